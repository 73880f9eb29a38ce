import type { LeaseId } from '../ids.ts'
import { makeFifo } from './fifo.ts'
import type { LeaseRequest } from './lease-queue.ts'

/** The requests for which no create is under way: those that may have one now, and those that rest after a failure. */
export interface Unserved {
  readonly size: number
  /** Those among them that need a sandbox made for them alone. */
  readonly ownSize: number
  has(leaseId: LeaseId): boolean
  /** No create is to be sent for it before its `retryAt`. */
  add(request: LeaseRequest, now: number): void
  delete(leaseId: LeaseId): void
  /** The first that may have a create now, of those that any sandbox will do for. */
  due(now: number): LeaseRequest | undefined
  /** The first that may have one now and needs a sandbox made for it alone. */
  ownDue(now: number): LeaseRequest | undefined
  /** The first at all that any sandbox will do for: one that rests takes what is there already. */
  any(): LeaseRequest | undefined
  /** When the first may have a create: in the past where one may now, Infinity when there is none. */
  nextAt(): number
  /** The same of those that need a sandbox made for them alone. */
  ownNextAt(): number
  all(): readonly LeaseRequest[]
}

export function makeUnserved(): Unserved {
  const ready = makeFifo<LeaseId, LeaseRequest>()
  const own = makeFifo<LeaseId, LeaseRequest>()
  const ownResting = makeFifo<LeaseId, LeaseRequest>()
  const resting = makeFifo<LeaseId, LeaseRequest>()
  /** A binary heap by time. Entries of requests that rest no longer, or anew, are skipped when they come up. */
  const heap: { readonly at: number; readonly request: LeaseRequest }[] = []

  function skipStale(): void {
    for (let top = heap[0]; top !== undefined && !isCurrent(top); top = heap[0]) popHeap(heap)
  }
  const isCurrent = ({ at, request }: { readonly at: number; readonly request: LeaseRequest }) =>
    restingOf(request).get(request.leaseId) === request && request.retryAt === at
  const readyOf = ({ kind }: LeaseRequest) => (kind === undefined ? ready : own)
  const restingOf = ({ kind }: LeaseRequest) => (kind === undefined ? resting : ownResting)

  function wake(now: number): void {
    skipStale()
    for (let top = heap[0]; top !== undefined && top.at <= now; top = heap[0]) {
      popHeap(heap)
      const { request } = top
      restingOf(request).delete(request.leaseId)
      readyOf(request).set(request.leaseId, request)
      skipStale()
    }
  }

  return {
    get size() {
      return ready.size + resting.size + own.size + ownResting.size
    },
    get ownSize() {
      return own.size + ownResting.size
    },
    has: leaseId => [ready, resting, own, ownResting].some(requests => requests.has(leaseId)),
    add(request, now) {
      if (request.retryAt <= now) {
        readyOf(request).set(request.leaseId, request)
        return
      }
      restingOf(request).set(request.leaseId, request)
      pushHeap(heap, { at: request.retryAt, request })
    },
    delete(leaseId) {
      for (const requests of [ready, resting, own, ownResting]) requests.delete(leaseId)
    },
    due(now) {
      wake(now)
      return ready.first()
    },
    ownDue(now) {
      wake(now)
      return own.first()
    },
    any: () => ready.first() ?? resting.first(),
    nextAt() {
      if (ready.size + own.size > 0) return Number.NEGATIVE_INFINITY
      skipStale()
      return heap[0]?.at ?? Number.POSITIVE_INFINITY
    },
    ownNextAt() {
      if (own.size > 0) return Number.NEGATIVE_INFINITY
      let at = Number.POSITIVE_INFINITY
      for (const { retryAt } of ownResting.values()) at = Math.min(at, retryAt)
      return at
    },
    all: () => [ready, resting, own, ownResting].flatMap(requests => [...requests.values()]),
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
