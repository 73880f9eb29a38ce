import type { AgentSpec } from '../../src/agents/agent.ts'
import type { Engine, EnginePorts } from '../../src/assembly/engine.ts'
import { type ErrorData, fromErrorData, TroupeError } from '../../src/errors.ts'
import type { GroupId, JobId } from '../../src/ids.ts'
import { makeRecall } from '../../src/job/recall.ts'
import type { Journal } from '../../src/journal/journal.ts'
import type { Group } from '../../src/rollout/group.ts'
import { makeWaitingBytes, type WaitingBytes } from '../../src/stream/credits.ts'
import { type GroupStreamSource, makeGroupStream } from '../../src/stream/group-stream.ts'
import type { GroupPlan } from '../../src/taskset/plan.ts'
import type { World } from './world.ts'

interface ActiveRun {
  readonly source: GroupStreamSource
  readonly expected: Set<GroupId>
  isCancelled: boolean
}

interface JobOptions {
  readonly world: World
  readonly jobId: JobId
  readonly journal: Journal | undefined
  readonly maxWaitingBytes: number
  readonly startEngine: (ports: EnginePorts) => Engine
}

/** Never run: each thread has its own. */
const agent: AgentSpec = { kind: 'closure', agent: { name: 'nobody', run: () => Promise.reject(new Error('nobody')) } }

/** How a job uses its engine: plans in, each group to the stream that waits for it, and its end. */
export class SimulatedJob {
  /** Every group that came out, in the order of their ends. */
  readonly delivered: Group[] = []
  readonly engine: Engine
  readonly waiting: WaitingBytes
  failure: ErrorData | undefined
  readonly #recall: ReturnType<typeof makeRecall>
  readonly #world: World
  #active: ActiveRun | undefined

  constructor({ world, jobId, journal, maxWaitingBytes, startEngine }: JobOptions) {
    this.#world = world
    this.waiting = makeWaitingBytes(maxWaitingBytes)
    // As after a restart: what is durable is looked for.
    this.#recall = makeRecall(journal, true)
    this.engine = startEngine({
      jobId,
      journal,
      durableRuns: plan => this.#recall.durableRuns(plan),
      waiting: this.waiting,
      onRun: header => this.#recall.remember(header),
      onGroup: group => this.#take(this.#recall.keep(group)),
      onFailed: error => {
        this.failure = error
        world.note(`the engine gives up: ${error.message}`)
        this.#finish(fromErrorData(error))
      },
    })
    this.waiting.onRoom(() => this.engine.room())
  }

  get isOver(): boolean {
    return this.#active === undefined
  }

  start(plans: readonly GroupPlan[]): GroupStreamSource['stream'] {
    const source = makeGroupStream({ waiting: this.waiting, onCancel: () => void this.cancel() })
    const run = { source, expected: new Set(plans.map(plan => plan.groupId)), isCancelled: false }
    this.#active = run
    void this.#begin(run, plans)
    return source.stream
  }

  /** Ends in order what is in flight. */
  async cancel(): Promise<void> {
    const run = this.#active
    if (run === undefined) return
    run.isCancelled = true
    try {
      await this.engine.cancel()
    } catch (error) {
      this.#world.violate(`a cancel was not answered: ${String(error)}`)
    }
    if (this.#active === run) this.#finish(new TroupeError({ tag: 'run-cancelled', message: 'the run was cancelled' }))
  }

  async #begin(run: ActiveRun, plans: readonly GroupPlan[]): Promise<void> {
    const { ended, open } = await this.#recall.sortPlans(plans)
    for (const group of ended) this.#take(group)
    if (open.length > 0 && this.#active === run && !run.isCancelled) this.engine.run(open, agent)
  }

  #take(group: Group): void {
    this.#world.note(`delivered: ${group.groupId} (${group.end.type})`)
    this.delivered.push(group)
    const run = this.#active
    if (run?.expected.delete(group.groupId) !== true) return
    run.source.push(group)
    if (run.expected.size === 0) this.#finish()
  }

  #finish(error?: Error): void {
    const run = this.#active
    this.#active = undefined
    if (error === undefined) run?.source.complete()
    else run?.source.error(error)
  }
}
