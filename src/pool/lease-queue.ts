import type { ErrorData } from '../errors.ts'
import type { LeaseId, RunId, SandboxId } from '../ids.ts'
import type { Ref } from '../kernel/ref.ts'
import type { Task } from '../taskset/task.ts'
import { makeFifo } from './fifo.ts'

/** What the owner of a lease is told, once, where its sandbox dies before it is given back. */
export interface LeaseLost {
  readonly type: 'lease-lost'
  readonly leaseId: LeaseId
  readonly error: ErrorData
}

/** A request for a sandbox, from its arrival until it is answered. */
export interface LeaseRequest {
  readonly leaseId: LeaseId
  readonly runId: RunId
  readonly task: Task
  /** Which kind of sandbox it needs, made for it alone; absent where any will do. */
  readonly kind?: string | undefined
  /** Beside those that were announced. */
  readonly isExtra?: true | undefined
  readonly owner: Ref<LeaseLost>
  readonly replyTo: Ref<unknown>
  /** By the pool's clock. */
  readonly arrivedAt: number
  readonly deadlineAt: number
  /** Creates that failed for it. */
  failures: number
  /** No create is sent for it before this time. */
  retryAt: number
  /** The sandbox that is being made for it. */
  creating: SandboxId | undefined
  /** Why the last create for it failed. */
  lastError?: ErrorData
}

/**
 * Requests in the order of their arrival. A deadline is absolute and is looked at again when the request reaches the front, so
 * that a late one never takes a sandbox, however long it took to get there.
 */
export interface LeaseQueue {
  readonly size: number
  /** The earliest deadline, or earlier: a time before which `expire` finds nothing. Infinity when none waits. */
  readonly wakeAt: number
  /** False when the queue is full. */
  push(request: LeaseRequest): boolean
  get(leaseId: LeaseId): LeaseRequest | undefined
  /** The first of those that any sandbox will do for. */
  front(): LeaseRequest | undefined
  remove(leaseId: LeaseId): LeaseRequest | undefined
  /** Removes and returns the requests whose deadline has passed. */
  expire(now: number): readonly LeaseRequest[]
  all(): readonly LeaseRequest[]
}

export function makeLeaseQueue(capacity: number): LeaseQueue {
  const requests = makeFifo<LeaseId, LeaseRequest>()
  /** Those among them that any sandbox will do for. */
  const common = makeFifo<LeaseId, LeaseRequest>()
  let wakeAt = Number.POSITIVE_INFINITY
  return {
    get size() {
      return requests.size
    },
    get wakeAt() {
      return requests.size === 0 ? Number.POSITIVE_INFINITY : wakeAt
    },
    push(request) {
      if (requests.size >= capacity) return false
      wakeAt = requests.size === 0 ? request.deadlineAt : Math.min(wakeAt, request.deadlineAt)
      requests.set(request.leaseId, request)
      if (request.kind === undefined) common.set(request.leaseId, request)
      return true
    },
    get: leaseId => requests.get(leaseId),
    front: () => common.first(),
    remove(leaseId) {
      const request = requests.get(leaseId)
      requests.delete(leaseId)
      common.delete(leaseId)
      return request
    },
    expire(now) {
      if (requests.size === 0 || now < wakeAt) return []
      const late = [...requests.values()].filter(request => request.deadlineAt <= now)
      for (const { leaseId } of late) {
        requests.delete(leaseId)
        common.delete(leaseId)
      }
      wakeAt = Number.POSITIVE_INFINITY
      for (const request of requests.values()) wakeAt = Math.min(wakeAt, request.deadlineAt)
      return late
    },
    all: () => [...requests.values()],
  }
}
