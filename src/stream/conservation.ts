import { conservationBroken } from './errors.ts'

/** What has become of everything that was completed. */
export interface ConservationCounts {
  readonly completed: number
  readonly shipped: number
  /** Neither shipped nor dropped yet. */
  readonly queued: number
  readonly dropped: Readonly<Record<string, number>>
}

/** Counts that nothing is lost on the way: completed = shipped + queued + dropped(reason). */
export interface Conservation {
  add(count: number): void
  ship(count: number): void
  drop(reason: string, count: number): void
  /**
   * Throws `conservation-broken` when more went out than came in, or when what should be queued is not what is:
   * `queued` is what the caller counts in its own queue.
   */
  check(queued?: number): void
  readonly counts: ConservationCounts
}

/** Books with nothing in them yet. */
export function makeConservation(): Conservation {
  let completed = 0
  let shipped = 0
  let droppedTotal = 0
  const dropped = new Map<string, number>()
  const queued = () => completed - shipped - droppedTotal
  const counts = (): ConservationCounts => ({
    completed,
    shipped,
    queued: queued(),
    dropped: Object.fromEntries(dropped),
  })
  return {
    add(count) {
      completed += count
    },
    ship(count) {
      shipped += count
    },
    drop(reason, count) {
      droppedTotal += count
      dropped.set(reason, (dropped.get(reason) ?? 0) + count)
    },
    check(found) {
      if (queued() < 0 || (found !== undefined && found !== queued())) throw conservationBroken(counts(), found)
    },
    get counts() {
      return counts()
    },
  }
}
