import { TroupeError } from '../../../src/errors.ts'
import type { GroupId } from '../../../src/ids.ts'
import type { Run } from '../../../src/rollout/run.ts'
import type { Checkpoint, ForwardBackwardOptions, OptimStepOptions, Trainer } from '../../../src/training/trainer.ts'

/** One call that reached the service. */
export type ServedCall =
  | {
      readonly type: 'forward-backward'
      readonly runs: readonly string[]
      readonly groups: readonly GroupId[]
      readonly groupSize: number | undefined
    }
  | { readonly type: 'optim-step'; readonly learningRate: number }

/** A training service that outlives the processes which call it. */
export class FakeService {
  readonly calls: ServedCall[] = []
  /** Groups of each optimiser step that was taken. */
  readonly applied: GroupId[][] = []
  accumulated: GroupId[][] = []
  checkpoints: Checkpoint[] = []
  /** Called before a call has any effect, and after it, before its answer goes out. */
  around: (name: string, when: 'before' | 'after') => Promise<void> = async () => {}
  /** What a `forwardBackward` call is refused with. */
  refusal: ((groups: readonly GroupId[]) => TroupeError | undefined) | undefined
  loss: (groups: readonly GroupId[]) => number = groups => -groups.length
  /** Calls under way, and the most there ever were. */
  underWay = 0
  mostUnderWay = 0

  get head(): Checkpoint | undefined {
    return this.checkpoints.find(({ isActive }) => isActive)
  }

  /** A client of one process. `tellsState`: it knows what it has accumulated; `tellsTree`: every version, and not only the one it serves. */
  client({
    tellsState = true,
    tellsTree = true,
  }: {
    readonly tellsState?: boolean
    readonly tellsTree?: boolean
  } = {}): Trainer {
    return {
      model: 'fake',
      forwardBackward: (runs, options) => this.#call('forward-backward', () => this.#accumulate(runs, options)),
      optimStep: options => this.#call('optim-step', () => this.#step(options)),
      policyVersion: async () => this.head?.id ?? null,
      ...(tellsTree ? { checkpoints: async () => [...this.checkpoints] } : {}),
      ...(tellsState ? { state: async () => ({ step: this.applied.length, calls: this.accumulated.length }) } : {}),
    }
  }

  /** As somebody else does who rolls the model back; null is its base. */
  setHead(id: string | null): void {
    this.checkpoints = this.checkpoints.map(each => ({ ...each, isActive: each.id === id }))
  }

  /** The service forgets what it accumulated, as one does that was started again. */
  lose(): void {
    this.accumulated = []
  }

  async #call<Value>(name: string, serve: () => Value): Promise<Value> {
    this.underWay += 1
    this.mostUnderWay = Math.max(this.mostUnderWay, this.underWay)
    try {
      await this.around(name, 'before')
      const value = serve()
      await this.around(name, 'after')
      return value
    } finally {
      this.underWay -= 1
    }
  }

  #accumulate(runs: readonly Run[], options: ForwardBackwardOptions = {}) {
    const groups = [...new Set(runs.map(run => run.groupId))]
    const { groupSize } = options
    this.calls.push({ type: 'forward-backward', runs: runs.map(run => run.runId), groups, groupSize })
    const refusal = this.refusal?.(groups)
    if (refusal !== undefined) {
      const accepted = refusal.data.details?.accepted
      if (Array.isArray(accepted) && accepted.length > 0) this.accumulated.push(accepted)
      throw refusal
    }
    this.accumulated.push(groups)
    return { metrics: { 'loss:sum': this.loss(groups) }, numDatums: runs.length }
  }

  #step({ learningRate }: OptimStepOptions) {
    if (this.accumulated.length === 0)
      throw new TroupeError({ tag: 'nothing-accumulated', message: 'nothing was accumulated' })
    this.calls.push({ type: 'optim-step', learningRate })
    this.applied.push(this.accumulated.flat())
    this.accumulated = []
    const id = `ckpt-${this.applied.length}`
    const checkpoint = toCheckpoint(id, this.head?.id ?? null)
    this.checkpoints = [...this.checkpoints.map(each => ({ ...each, isActive: false })), checkpoint]
    return { step: this.applied.length, policyVersion: id }
  }
}

function toCheckpoint(id: string, parentId: string | null): Checkpoint {
  return {
    id,
    name: null,
    parentId,
    isActive: true,
    createdAt: null,
    numDatums: null,
    numTokens: null,
    meanReward: null,
    learningRate: null,
    lossFn: null,
    metrics: {},
  }
}
