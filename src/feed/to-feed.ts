import type { Hider } from '../redact.ts'
import type { GroupRecord } from '../rollout/group.ts'
import type { RunHeader } from '../rollout/run.ts'
import type { KnownWorker, WorkersEvent } from '../telemetry/channels.ts'
import type { CallRecord } from '../training/loop/ledger.ts'
import type { FeedChunk, FeedGroup, FeedRun, FeedWorkers } from './messages.ts'

const LONGEST_MESSAGE = 500
const MOST_WORKERS = 500

/** A text that a watcher is shown: its beginning, without secrets. */
export function toShown(text: string, { hide }: Pick<Hider, 'hide'>): string {
  const shown = hide(text)
  return shown.length > LONGEST_MESSAGE ? `${shown.slice(0, LONGEST_MESSAGE)}…` : shown
}

/** A run that ended: what a list shows of it, and nothing that would keep its task in memory. */
export function toFeedRun(header: RunHeader, hider: Pick<Hider, 'hide'>): FeedRun {
  const { runId, groupId, task, step, member, attempt, outcome, reward, stopReason, failedPhase, error } = header
  const { lease, timings, startedAt, endedAt } = header
  return {
    runId,
    groupId,
    slug: task.slug,
    step,
    member,
    attempt,
    outcome,
    reward,
    stopReason,
    ...(failedPhase === undefined ? {} : { failedPhase }),
    ...(error === undefined ? {} : { error: toShown(error.message, hider) }),
    lease,
    timings,
    startedAt,
    endedAt,
  }
}

/** A group that ended. `at` stands in where it has no run. */
export function toFeedGroup(group: Omit<GroupRecord, 'jobId'>, at: number): FeedGroup {
  const { groupId, step, index, task, end, runs } = group
  return {
    groupId,
    step,
    index,
    slug: task.slug,
    end: end.type,
    rewards: runs.map(({ reward }) => reward),
    endedAt: runs.length === 0 ? at : runs.reduce((latest, { endedAt }) => Math.max(latest, endedAt), 0),
  }
}

/** A training call as the journal keeps it; undefined where it is not over. `at` stands in where its time was not kept. */
export function toFeedChunk(
  step: number,
  { call, end }: CallRecord,
  at: number,
  hider: Pick<Hider, 'hide'>,
): FeedChunk | undefined {
  if (end.type !== 'over') return undefined
  return {
    step,
    call,
    groups: end.accepted,
    dropped: [...end.rejected, ...end.unknown],
    datums: end.datums,
    loss: end.loss,
    tookMs: end.tookMs,
    endedAt: end.startedAt === undefined ? at : end.startedAt + end.tookMs,
    ...(end.error === null ? {} : { error: toShown(end.error.message, hider) }),
  }
}

const ORDER: Readonly<Record<KnownWorker['state'], number>> = { silent: 0, lost: 1, draining: 2, joined: 3, left: 4 }

/** What a coordinator tells of its workers, bounded. */
export function toFeedWorkers({ workers, credits, creditsFree, each }: WorkersEvent): FeedWorkers {
  const list = each.toSorted((one, other) => ORDER[one.state] - ORDER[other.state]).slice(0, MOST_WORKERS)
  return { count: workers, credits, creditsFree, list }
}
