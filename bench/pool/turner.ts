import { type LeaseId, type SandboxId, toLeaseId, toRunId } from '../../src/ids.ts'
import type { Ref } from '../../src/kernel/ref.ts'
import { disposed } from '../../src/pool/deletes.ts'
import { settle } from '../../src/pool/pool.ts'
import { makePoolState, type PoolConfig, type PoolPorts } from '../../src/pool/pool-state.ts'
import { provisioned } from '../../src/pool/provisioned.ts'
import { expect, lease, release } from '../../src/pool/requests.ts'
import type { LeaseKind } from '../../src/runtimes/runtime.ts'
import type { Task } from '../../src/taskset/task.ts'

/** The engine's own pool as a value, with a provider that answers as soon as it is asked again, and time that goes on a millisecond an event. */
export interface Turner {
  /** What the pool has been told, and settled after. */
  readonly events: number
  /** Leases given out, by kind. */
  readonly leases: Readonly<Record<LeaseKind, number>>
  /** Sandboxes that exist. */
  readonly sandboxes: number
  /** Requests that wait. */
  readonly waiting: number
  /** So many leases are given back, the oldest first, and as many asked for. */
  turn(leases: number): void
}

/**
 * `shelf`: as many sandboxes ready as are leased, and each lease is a hit. `queue`: all are leased and as many requests wait, so that each sandbox
 * given back is deleted, made anew and handed to the front of the queue.
 */
export type Standing = 'shelf' | 'queue'

const DEADLINE_MS = 1e12
const task: Task = { env: 'bench', id: 'bench', args: {}, slug: 'bench' }
const nobody: Ref<unknown> = { address: 'bench', tell: () => true }
const made = {
  ok: true,
  value: { address: { kind: 'unix', path: '/bench' }, sessionId: undefined, origin: 'cold' },
} as const
const gone = { ok: true, value: undefined } as const

/** A pool of `sandboxes`, filled. */
export function makeTurner(sandboxes: number, standing: Standing): Turner {
  let now = 0
  let events = 0
  let asked = 0
  const creates: SandboxId[] = []
  const deletes: SandboxId[] = []
  /** Asked for and not given back: a ring, whose oldest is at `oldest`. */
  const open: LeaseId[] = []
  let oldest = 0
  const ports: PoolPorts = {
    now: () => now,
    random: () => 0.5,
    provision: ({ id }) => void creates.push(id),
    cancel: refuse,
    dispose: id => void deletes.push(id),
    grant: () => true,
    refuse,
    holdPool: refuse,
    countPool: refuse,
    dropPool: refuse,
    watch: () => {},
    unwatch: () => {},
    report: refuse,
  }
  const state = makePoolState(toConfig(sandboxes, standing), ports)

  function tell(happen: () => void): void {
    now += 1
    events += 1
    happen()
    settle(state)
  }

  function ask(): LeaseId {
    asked += 1
    const leaseId = toLeaseId(`lease-${asked}`)
    tell(() => lease(state, toRequest(leaseId, now)))
    return leaseId
  }

  function giveBack(leaseId: LeaseId | undefined): void {
    if (leaseId !== undefined) tell(() => release(state, leaseId, true))
    answer()
  }

  /** Everything that the provider was asked for has come about. */
  function answer(): void {
    while (creates.length + deletes.length > 0) {
      for (const id of creates.splice(0)) tell(() => provisioned(state, id, made))
      for (const id of deletes.splice(0)) tell(() => disposed(state, id, gone))
    }
  }

  tell(() => expect(state, Number.MAX_SAFE_INTEGER))
  answer()
  const held = standing === 'shelf' ? sandboxes / 2 : sandboxes * 2
  for (let count = 0; count < held; count += 1) open.push(ask())
  answer()
  return {
    get events() {
      return events
    },
    get leases() {
      return { ...state.granted }
    },
    get sandboxes() {
      return state.ledger.size
    },
    get waiting() {
      return state.queue.size
    },
    turn(leases) {
      for (let turned = 0; turned < leases; turned += 1) {
        const back = open[oldest]
        open[oldest] = ask()
        oldest = (oldest + 1) % open.length
        giveBack(back)
      }
    },
  }
}

function toConfig(sandboxes: number, standing: Standing): PoolConfig {
  return {
    runtime: 'bench',
    strategy: standing === 'shelf' ? 'prewarm' : 'cold',
    size: standing === 'shelf' ? sandboxes / 2 : 0,
    source: { type: 'create' },
    maxSandboxes: sandboxes,
    maxWaiting: 2 * sandboxes,
    wave: 256,
    seeds: 32,
    creates: undefined,
    createRate: undefined,
    createRetries: 2,
    backoff: { baseMs: 250, maxMs: 10_000 },
    breaker: { failures: 8, cooldownMs: 10_000 },
    disposeAttempts: 3,
    idPrefix: 'bench',
  }
}

function toRequest(leaseId: LeaseId, now: number) {
  return {
    leaseId,
    runId: toRunId(leaseId),
    task,
    owner: nobody,
    replyTo: nobody,
    arrivedAt: now,
    deadlineAt: now + DEADLINE_MS,
    failures: 0,
    retryAt: 0,
    creating: undefined,
  }
}

/** Nothing here ever makes the pool do this. */
function refuse(): never {
  throw new Error('the pool did what it had no reason for')
}
