import { explainStep } from '../../src/explain/explain-step.ts'
import type { TurnTime } from '../../src/explain/split-run.ts'
import type { StepTimeline } from '../../src/explain/timeline.ts'
import { type KeptStep, toTimeline } from '../../src/explain/to-timeline.ts'
import { toGroupId, toJobId, toRunId } from '../../src/ids.ts'
import type { RunHeader } from '../../src/rollout/run.ts'
import type { CallRecord, OptimMark } from '../../src/training/loop/ledger.ts'

/** When every scene begins, in milliseconds since 1970. */
export const BEGAN = 1_700_000_000_000
export const jobId = toJobId('job-1')

type Given = Partial<Omit<RunHeader, 'task' | 'startedAt' | 'endedAt' | 'timings'>> & {
  readonly from: number
  readonly timings: RunHeader['timings']
  readonly turns?: readonly TurnTime[]
  /** By default the sum of its phases after `from`. */
  readonly to?: number
}

/** Member `member` of group `index`: where nothing else is said, it takes exactly as long as its phases. */
export function makeRun(
  index: number,
  member: number,
  { from, to, timings, turns = [], ...differing }: Given,
): KeptStep['runs'][number] {
  const took = Object.values(timings).reduce((sum, ms) => sum + ms, 0)
  const header: RunHeader = {
    runId: toRunId(`run-${index}-${member}`),
    jobId,
    groupId: toGroupId(`group-${index}`),
    step: 0,
    index,
    member,
    attempt: 1,
    task: { env: 'arith', id: 'add', args: {}, slug: `sum-${index}`, columns: {} },
    outcome: 'graded',
    reward: 1,
    stopReason: 'done',
    lease: 'hit',
    timings,
    startedAt: BEGAN + from,
    endedAt: BEGAN + (to ?? Math.round(from + took)),
    seed: 1,
    agent: 'adder',
    bytes: 1,
    ...differing,
  }
  return { header, turns }
}

/** The training call `call` with those groups, from then to then. */
export function makeCall(call: number, groups: readonly number[], from: number, to: number): CallRecord {
  const ids = groups.map(index => toGroupId(`group-${index}`))
  return {
    call,
    groups: ids,
    callsBefore: call,
    end: {
      type: 'over',
      accepted: ids,
      rejected: [],
      unknown: [],
      datums: 1,
      loss: 1,
      tookMs: to - from,
      startedAt: BEGAN + from,
      error: null,
    },
  }
}

export function makeOptim(from: number, to: number): OptimMark {
  return {
    type: 'stepped',
    checkpointId: 'ckpt-1',
    optimStep: 1,
    learningRate: 0.1,
    tookMs: to - from,
    startedAt: BEGAN + from,
    adopted: false,
  }
}

export function makeKept(kept: Partial<KeptStep>): KeptStep {
  return {
    runs: [],
    calls: [],
    optim: undefined,
    record: undefined,
    order: 'planned',
    beganAt: undefined,
    beforeEndedAt: undefined,
    ...kept,
  }
}

export function timelineOf(kept: Partial<KeptStep>): StepTimeline {
  const timeline = toTimeline(makeKept(kept))
  if (timeline === undefined) throw new Error('a scene in which nothing happened')
  return timeline
}

export const explain = (kept: Partial<KeptStep>) => explainStep(timelineOf(kept))

/** The critical path in short: `model 0-10 run-0-0`. */
export function pathOf(kept: Partial<KeptStep>): readonly string[] {
  return explain(kept).path.map(({ part, from, to, owner }) => {
    const whose = owner.type === 'run' ? ` ${owner.run.runId}` : owner.type === 'call' ? ` call ${owner.call.call}` : ''
    return `${part} ${from}-${to}${whose}`
  })
}
