import { toEngineSettings } from '../assembly/settings.ts'
import type { ErrorData } from '../errors.ts'
import { type LeaseId, type RunId, toLeaseId, toRunId } from '../ids.ts'
import type { Ref } from '../kernel/ref.ts'
import { disposed } from '../pool/deletes.ts'
import { forkable } from '../pool/forks.ts'
import { drain, drained, settle } from '../pool/pool.ts'
import { toPoolConfig } from '../pool/pool-options.ts'
import { makePoolState, type PoolPorts, type PoolState } from '../pool/pool-state.ts'
import { poolCounted, poolDropped, poolHeld } from '../pool/provider-pool.ts'
import { provisioned } from '../pool/provisioned.ts'
import { expect, lease, release } from '../pool/requests.ts'
import type { LeaseKind, Runtime } from '../runtimes/runtime.ts'
import type { Task } from '../taskset/task.ts'
import type { PoolPlan } from './job.ts'
import type { Provider } from './provider.ts'
import type { Timeline } from './timeline.ts'

export interface Answer {
  readonly onLeased: (kind: LeaseKind) => void
  readonly onRefused: (error: ErrorData) => void
}

/** The engine's own pool, driven by simulated time as its actor drives it by real time. */
export interface PoolDriver {
  readonly state: PoolState
  lease(answer: Answer): LeaseId
  release(leaseId: LeaseId): void
  /** Tells how many leases are still to be asked for. */
  expect(remaining: number): void
  drain(): void
  readonly isDrained: boolean
}

export interface PoolDriverOptions {
  readonly plan: PoolPlan
  readonly maxConcurrent: number
  readonly timeline: Timeline
  readonly provider: Provider
  readonly random: () => number
}

/** Longer than any simulated wait: a request that is too late is the engine's to deal with, and not what is measured here. */
const LEASE_DEADLINE_MS = 24 * 60 * 60_000

const task: Task = { env: 'simulated', id: 'simulated', args: {}, slug: 'simulated' }
const nowhere: Ref<unknown> = { address: 'simulated', tell: () => true }

export function makePoolDriver(options: PoolDriverOptions): PoolDriver {
  const { plan, maxConcurrent, timeline, provider, random } = options
  const answers = new Map<LeaseId, Answer>()
  let requests = 0
  let tickAt = Number.POSITIVE_INFINITY

  const ports: PoolPorts = {
    now: timeline.now,
    random,
    provision({ id, parent }) {
      provider.make({
        id,
        parent,
        onForkable: () => then(() => forkable(state, id)),
        onEnd: made =>
          then(() =>
            provisioned(
              state,
              id,
              made.ok ? { ok: true, value: { address, sessionId: undefined, origin: made.origin } } : made,
            ),
          ),
      })
    },
    cancel: id => provider.cancel(id),
    dispose: (id, { delayMs }) =>
      provider.remove(id, delayMs, () => then(() => disposed(state, id, { ok: true, value: undefined }))),
    grant({ leaseId }, _id, _at, kind) {
      const answer = answers.get(leaseId)
      answers.delete(leaseId)
      answer?.onLeased(kind)
      return answer !== undefined
    },
    refuse({ leaseId }, error) {
      const answer = answers.get(leaseId)
      answers.delete(leaseId)
      answer?.onRefused(error)
    },
    holdPool: size => provider.holdPool(size, () => then(() => poolHeld(state, { ok: true, value: undefined }))),
    countPool: () => provider.countPool(ready => then(() => poolCounted(state, { ok: true, value: ready }))),
    dropPool: () => provider.dropPool(() => then(() => poolDropped(state, { ok: true, value: undefined }))),
    watch: () => {},
    unwatch: () => {},
    report: () => {},
  }
  const state = makePoolState(toConfig(plan, maxConcurrent), ports)

  function then(act: () => void): void {
    act()
    rest()
  }

  /** What the actor does after each message. */
  function rest(): void {
    const wakeAt = settle(state)
    if (wakeAt >= tickAt) return
    tickAt = wakeAt
    timeline.after(wakeAt - timeline.now(), () => {
      // One that an earlier tick has made needless.
      if (tickAt !== wakeAt) return
      tickAt = Number.POSITIVE_INFINITY
      rest()
    })
  }

  return {
    state,
    lease(answer) {
      requests += 1
      const leaseId = toLeaseId(`lease-${requests}`)
      answers.set(leaseId, answer)
      then(() => lease(state, toRequest(leaseId, toRunId(leaseId), timeline.now())))
      return leaseId
    },
    release: leaseId => then(() => release(state, leaseId, true)),
    expect: remaining => then(() => expect(state, remaining)),
    drain: () => then(() => drain(state)),
    get isDrained() {
      return drained(state) !== undefined
    },
  }
}

const address = { kind: 'unix', path: '/simulated' } as const

function toRequest(leaseId: LeaseId, runId: RunId, now: number) {
  return {
    leaseId,
    runId,
    task,
    owner: nowhere,
    replyTo: nowhere,
    arrivedAt: now,
    deadlineAt: now + LEASE_DEADLINE_MS,
    failures: 0,
    retryAt: 0,
    creating: undefined,
  }
}

/** As an engine with these options would set its pool up. Throws `bad-option`. */
function toConfig({ pool }: PoolPlan, maxConcurrent: number) {
  const settings = toEngineSettings({ runtime, pool, maxConcurrent })
  return toPoolConfig({
    runtime,
    pool: settings.pool,
    maxSandboxes: settings.pool.maxSandboxes,
    labels: {},
    ids: { hex: () => 's' },
    // One machine's engine lets 10,000 wait; what is asked here is how the pool fares with more.
    maxWaiting: Math.max(10_000, maxConcurrent * 2),
    wave: settings.pool.wave,
  })
}

const unused = () => Promise.reject(new Error('a simulation asks its provider'))

/** Only what it is able to do is looked at. */
const runtime: Runtime = {
  name: 'simulated',
  forks: true,
  providerPool: { hold: unused, ready: unused, drop: unused },
  preflight: unused,
  provision: unused,
  close: unused,
}
