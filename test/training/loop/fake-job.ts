import type { Clock } from '../../../src/clock.ts'
import { TroupeError } from '../../../src/errors.ts'
import { type GroupId, toJobId } from '../../../src/ids.ts'
import { makeJobRecords } from '../../../src/job/records.ts'
import { openMemoryJournal } from '../../../src/journal/memory-journal.ts'
import type { Group } from '../../../src/rollout/group.ts'
import { decideGroupEnd } from '../../../src/rollout/group-end.ts'
import { packTrajectory, toRun } from '../../../src/rollout/pack.ts'
import type { Run } from '../../../src/rollout/run.ts'
import { makeGroupStream } from '../../../src/stream/group-stream.ts'
import type { GroupPlan, MemberPlan } from '../../../src/taskset/plan.ts'
import { planGroups } from '../../../src/taskset/plan-groups.ts'
import { Taskset } from '../../../src/taskset/taskset.ts'
import type { TrainingJob } from '../../../src/training/loop/index.ts'
import { makeHeader } from '../../journal/fixtures.ts'

export const tasksOf = (count: number, name = 't') =>
  new Taskset(
    name,
    Array.from({ length: count }, (_, index) => ({ env: 'fake', id: 'do', args: {}, slug: `${name}-${index}` })),
  )

/** Timers of 0 ms fire at the next turn, longer ones never: nothing in these tests is late. */
export const standingClock: Clock = {
  now: () => 0,
  wallTime: () => 1_700_000_000_000,
  after(delayMs, wake) {
    if (delayMs > 0) return () => {}
    const immediate = setImmediate(wake)
    return () => clearImmediate(immediate)
  },
}

/** What outlives a process: the journal and the groups in it. */
export class World {
  readonly jobId = toJobId('job-1')
  readonly seed: number
  readonly journal = openMemoryJournal()
  readonly ended = new Map<GroupId, Group>()
  /** Groups in the order in which their rollouts began. */
  readonly begun: GroupPlan[] = []
  /** The reward of each member; null is no grade. */
  reward: (plan: GroupPlan, member: MemberPlan) => number | null = (_, { member }) => member % 2
  /** Turns of a run; the policy's version is drawn from here. */
  version: () => string | undefined = () => undefined
  hasTokens = true
  logprob: (plan: GroupPlan, member: MemberPlan) => number = () => -1

  constructor(seed = 7) {
    this.seed = seed
  }

  /** The job in one process. `rollOut` resolves when a group may end; `around` is called before and after each record is written. */
  job(
    process: {
      readonly resumed?: boolean
      readonly rollOut?: (plan: GroupPlan, signal: AbortSignal) => Promise<void>
      readonly around?: (name: string, when: 'before' | 'after') => Promise<void>
    } = {},
  ): TrainingJob {
    const { resumed = false, rollOut = async () => {}, around = async () => {} } = process
    const inner = makeJobRecords(this.jobId, this.journal)
    const places = new Map<number, number>()
    return {
      jobId: this.jobId,
      seed: this.seed,
      resumed,
      records: {
        async put(key, value) {
          await around(`put ${key}`, 'before')
          await inner.put(key, structuredClone(value))
          await around(`put ${key}`, 'after')
        },
        list: prefix => inner.list(prefix),
        async settle(groupId, to, reason) {
          await around(`settle ${groupId}`, 'before')
          await inner.settle(groupId, to, reason)
        },
      },
      stream: (taskset, _agent, options = {}) => {
        const { group = 1, step = 0, round = 0, signal } = options
        const cancel = new AbortController()
        const source = makeGroupStream({ onCancel: () => cancel.abort() })
        const stopped = new TroupeError({ tag: 'run-cancelled', message: 'cancelled' })
        signal?.addEventListener('abort', () => source.error(stopped), { once: true })
        if (signal?.aborted) source.error(stopped)
        const firstIndex = round === 0 ? 0 : (places.get(step) ?? 0)
        places.set(step, firstIndex + taskset.tasks.length)
        const where = { jobId: this.jobId, seed: this.seed, step, round, firstIndex }
        const plans = planGroups({ ...where, tasks: taskset.tasks, group })
        const either = signal === undefined ? cancel.signal : AbortSignal.any([cancel.signal, signal])
        const all = plans.map(async plan => {
          const known = this.ended.get(plan.groupId)
          if (known !== undefined && !resumed) throw new Error(`${plan.groupId} is run twice in one process`)
          if (known === undefined) this.begun.push(plan)
          if (known === undefined) await rollOut(plan, either)
          if (either.aborted) return
          source.push(known ?? (await this.#end(plan)))
        })
        Promise.all(all).then(
          () => source.complete(),
          error => source.error(error),
        )
        return source.stream
      },
    }
  }

  async #end(plan: GroupPlan): Promise<Group> {
    const runs = plan.members.map(member => this.#run(plan, member))
    const { jobId, groupId, step, index, task } = plan
    const end = decideGroupEnd({ type: 'complete' }, runs)
    const group: Group = { jobId, groupId, step, index, task, end, runs, bytes: runs.length * 100 }
    if (this.ended.has(groupId)) throw new Error(`${groupId} ended twice`)
    await this.journal.putGroup({ ...group, runs: [] })
    this.ended.set(groupId, group)
    return group
  }

  #run(plan: GroupPlan, member: MemberPlan): Run {
    const { jobId, groupId, step, index, task } = plan
    const reward = this.reward(plan, member)
    const version = this.version()
    const logprobs = Float32Array.of(-2, this.logprob(plan, member))
    const tokens = { prompt: Uint32Array.of(1), output: Uint32Array.of(2, 3), logprobs }
    const trajectory = packTrajectory({
      prompt: 'go',
      turns: [
        {
          role: 'assistant',
          text: '',
          atMs: 0,
          tookMs: 0,
          ...(this.hasTokens ? { tokens } : {}),
          ...(version === undefined ? {} : { version }),
        },
      ],
      answer: null,
      grade: null,
    })
    const header = makeHeader({
      ...{ jobId, groupId, step, index, task, reward, runId: member.runId, member: member.member },
      outcome: reward === null ? 'infrastructure-error' : 'graded',
      bytes: 100,
    })
    return toRun(header, trajectory)
  }
}
