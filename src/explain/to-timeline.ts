import type { RunHeader } from '../rollout/run.ts'
import type { CallRecord, OptimMark } from '../training/loop/ledger.ts'
import type { StepRecord } from '../training/records.ts'
import { splitRun, type TurnTime } from './split-run.ts'
import type { CallTimeline, RunTimeline, Span, StepTimeline } from './timeline.ts'

/** A step as the journal has it; what is missing has not happened yet, or is no training. */
export interface KeptStep {
  readonly runs: readonly { readonly header: RunHeader; readonly turns: readonly TurnTime[] }[]
  readonly calls: readonly CallRecord[]
  readonly optim: OptimMark | undefined
  readonly record: StepRecord | undefined
  readonly order: StepTimeline['order']
  /** When the job began, for the step that it began with; milliseconds since 1970. */
  readonly beganAt: number | undefined
  /** When the optimiser step of the step before was over, in milliseconds since 1970. */
  readonly beforeEndedAt: number | undefined
}

/** Undefined of a step of which nothing has ended. A call whose time the journal does not know is left out. */
export function toTimeline(kept: KeptStep): StepTimeline | undefined {
  const { beganAt, record } = kept
  const recorded =
    record?.startedAt === undefined ? [] : [{ from: record.startedAt, to: record.startedAt + record.wallMs }]
  const runSpans = kept.runs.map(({ header }) => ({ from: header.startedAt, to: header.endedAt }))
  const calls = kept.calls.flatMap(toCall)
  const optimiser = kept.optim?.type === 'stepped' ? toSpan(kept.optim) : undefined
  const all: readonly Span[] = [...recorded, ...runSpans, ...calls, ...(optimiser === undefined ? [] : [optimiser])]
  if (all.length === 0) return undefined
  const startedAt = Math.min(...all.map(({ from }) => from), ...(beganAt === undefined ? [] : [beganAt]))
  const since = ({ from, to }: Span): Span => ({ from: from - startedAt, to: to - startedAt })
  const before = kept.beforeEndedAt
  return {
    startedAt,
    durationMs: Math.max(...all.map(({ to }) => to)) - startedAt,
    runs: kept.runs.map(({ header, turns }) => toRunTimeline(header, turns, header.startedAt - startedAt)),
    calls: calls.map(call => ({ ...call, ...since(call) })),
    optimiser: optimiser === undefined ? undefined : since(optimiser),
    order: kept.order,
    beforeEndedAt: before !== undefined && before > startedAt ? before - startedAt : undefined,
  }
}

function toRunTimeline(header: RunHeader, turns: readonly TurnTime[], from: number): RunTimeline {
  const { runId, groupId, index, member, lease } = header
  return {
    runId,
    groupId,
    index,
    member,
    slug: header.task.slug,
    lease,
    isLater: header.attempt > 1 || header.stopReason === 'thread-lost',
    provisioningMs: header.timings.provisioning ?? 0,
    from,
    to: from + Math.max(0, header.endedAt - header.startedAt),
    segments: splitRun(header, turns, from),
  }
}

function toCall({ call, groups, end }: CallRecord): readonly CallTimeline[] {
  const span = end.type === 'over' ? toSpan(end) : undefined
  return span === undefined ? [] : [{ call, groups, ...span }]
}

function toSpan({ startedAt, tookMs }: { readonly startedAt?: number; readonly tookMs: number }): Span | undefined {
  return startedAt === undefined ? undefined : { from: startedAt, to: startedAt + tookMs }
}
