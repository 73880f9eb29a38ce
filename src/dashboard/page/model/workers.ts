import type { FeedWorkers } from '../../../feed/messages.ts'
import type { KnownWorker } from '../../../telemetry/channels.ts'

/** By what workers are listed; those that are not as they should be come first in any order. */
export const ORDERS = ['name', 'most rollouts', 'slowest', 'newest'] as const
export type Order = (typeof ORDERS)[number]

const BY: Readonly<Record<Order, (one: KnownWorker, other: KnownWorker) => number>> = {
  name: () => 0,
  'most rollouts': (one, other) => other.rollouts - one.rollouts,
  slowest: (one, other) => one.rate - other.rate,
  newest: (one, other) => other.since - one.since,
}

/** What the view shows of a job's workers. */
export interface WorkersShown {
  readonly here: readonly KnownWorker[]
  readonly gone: readonly KnownWorker[]
  /** Of those that are here. */
  readonly rollouts: number
  readonly rate: number
  readonly runs: number
  readonly sandboxes: number
  readonly silent: number
  readonly draining: number
  /** How many that are here are not among these. */
  readonly unlisted: number
}

export function toShown({ list, count }: FeedWorkers, order: Order): WorkersShown {
  const here = list.filter(({ goneAt }) => goneAt === undefined)
  const gone = list.filter(({ goneAt }) => goneAt !== undefined)
  const sum = (of: (worker: KnownWorker) => number) => here.reduce((total, worker) => total + of(worker), 0)
  return {
    here: here.toSorted(
      (one, other) => rank(one) - rank(other) || BY[order](one, other) || (one.node < other.node ? -1 : 1),
    ),
    gone: gone.toSorted((one, other) => (other.goneAt ?? 0) - (one.goneAt ?? 0)),
    rollouts: sum(worker => worker.rollouts),
    rate: sum(worker => worker.rate),
    runs: sum(worker => worker.runs),
    sandboxes: sum(worker => worker.sandboxes ?? 0),
    silent: here.filter(({ state }) => state === 'silent').length,
    draining: here.filter(({ state }) => state === 'draining').length,
    unlisted: Math.max(0, count - here.length),
  }
}

const rank = ({ state }: KnownWorker): number => (state === 'silent' ? 0 : state === 'draining' ? 1 : 2)
