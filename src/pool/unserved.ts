import type { LeaseId } from '../ids.ts'
import { makeFifo } from './fifo.ts'
import type { LeaseRequest } from './lease-queue.ts'

/** The requests for which no create is under way: those that may have one now, and those that rest after a failure. */
export interface Unserved {
  readonly size: number
  has(leaseId: LeaseId): boolean
  /** No create is to be sent for it before its `retryAt`. */
  add(request: LeaseRequest, now: number): void
  delete(leaseId: LeaseId): void
  /** The first that may have a create now. */
  due(now: number): LeaseRequest | undefined
  /** The first at all: one that rests takes what is there already. */
  any(): LeaseRequest | undefined
  /** When the first may have a create: in the past where one may now, Infinity when there is none. */
  nextAt(): number
  all(): readonly LeaseRequest[]
}

export function makeUnserved(): Unserved {
  const ready = makeFifo<LeaseId, LeaseRequest>()
  const resting = makeFifo<LeaseId, LeaseRequest>()
  /** A binary heap by time. Entries of requests that rest no longer, or anew, are skipped when they come up. */
  const heap: { readonly at: number; readonly request: LeaseRequest }[] = []

  function skipStale(): void {
    for (let top = heap[0]; top !== undefined && !isCurrent(top); top = heap[0]) popHeap(heap)
  }
  const isCurrent = ({ at, request }: { readonly at: number; readonly request: LeaseRequest }) =>
    resting.get(request.leaseId) === request && request.retryAt === at

  return {
    get size() {
      return ready.size + resting.size
    },
    has: leaseId => ready.has(leaseId) || resting.has(leaseId),
    add(request, now) {
      if (request.retryAt <= now) {
        ready.set(request.leaseId, request)
        return
      }
      resting.set(request.leaseId, request)
      pushHeap(heap, { at: request.retryAt, request })
    },
    delete(leaseId) {
      ready.delete(leaseId)
      resting.delete(leaseId)
    },
    due(now) {
      skipStale()
      for (let top = heap[0]; top !== undefined && top.at <= now; top = heap[0]) {
        popHeap(heap)
        resting.delete(top.request.leaseId)
        ready.set(top.request.leaseId, top.request)
        skipStale()
      }
      return ready.first()
    },
    any: () => ready.first() ?? resting.first(),
    nextAt() {
      if (ready.size > 0) return Number.NEGATIVE_INFINITY
      skipStale()
      return heap[0]?.at ?? Number.POSITIVE_INFINITY
    },
    all: () => [...ready.values(), ...resting.values()],
  }
}

function pushHeap<Entry extends { readonly at: number }>(heap: Entry[], entry: Entry): void {
  let index = heap.push(entry) - 1
  while (index > 0) {
    const above = (index - 1) >> 1
    const parent = heap[above]
    if (parent === undefined || parent.at <= entry.at) break
    heap[index] = parent
    index = above
  }
  heap[index] = entry
}

function popHeap<Entry extends { readonly at: number }>(heap: Entry[]): void {
  const last = heap.pop()
  if (last === undefined || heap.length === 0) return
  let index = 0
  for (;;) {
    const left = heap[2 * index + 1]
    const right = heap[2 * index + 2]
    const child = right !== undefined && left !== undefined && right.at < left.at ? 2 * index + 2 : 2 * index + 1
    const least = heap[child]
    if (least === undefined || least.at >= last.at) break
    heap[index] = least
    index = child
  }
  heap[index] = last
}
