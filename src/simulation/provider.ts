import { interpolate } from '../emulator/figures.ts'
import { drawStretch } from '../emulator/latency.ts'
import type { ErrorData } from '../errors.ts'
import type { SandboxId } from '../ids.ts'
import type { SandboxOrigin } from '../runtimes/runtime.ts'
import { callOff, createFailed } from './errors.ts'
import type { LatencyModel } from './latency-model.ts'
import { makeOperations } from './operations.ts'
import { makeProviderPool } from './provider-pool.ts'
import type { Timeline } from './timeline.ts'

export type Made =
  | { readonly ok: true; readonly origin: SandboxOrigin }
  | { readonly ok: false; readonly error: ErrorData }

export interface MakeRequest {
  readonly id: SandboxId
  readonly parent: SandboxId | undefined
  readonly onForkable: () => void
  readonly onEnd: (made: Made) => void
}

/** A simulated provider with the runtime in front of it: what it is told to do takes the model's time. */
export interface Provider {
  make(request: MakeRequest): void
  cancel(id: SandboxId): void
  remove(id: SandboxId, delayMs: number, done: () => void): void
  holdPool(size: number, done: () => void): void
  countPool(done: (ready: number) => void): void
  dropPool(done: () => void): void
  /** Sandboxes that exist now, whoever has them. */
  readonly alive: number
  /** Of those, unclaimed members of the provider's pool. */
  readonly unclaimed: number
  /** Sandboxes that were ever made, members of the pool included. */
  readonly created: number
}

interface Making {
  readonly request: MakeRequest
  exists: boolean
  cancelled: boolean
}

const CALL_MS = 30
/** The sandbox by whose labels everybody can tell whose the pool is: it exists for as long as the pool is held. */
const ANCHORS = 1
/** From asking for a pool until the provider has agreed: the anchor's create is answered, then the pool's. */
const HOLD_MS = 150 + 3 * CALL_MS

export function makeProvider(timeline: Timeline, random: () => number, model: LatencyModel): Provider {
  const operations = makeOperations(timeline, random, model.spread)
  const making = new Map<SandboxId, Making>()
  // When it is asked for, when it has started, and when its server answers.
  const hostMs = model.hostMs / 3
  let alive = 0
  let created = 0
  const appear = (count: number) => {
    alive += count
    created += count
  }
  const pool = makeProviderPool(timeline, random, model.refill, {
    onMember: () => appear(1),
    onGone: () => {
      alive -= 1
    },
    deleteMs: () => model.deleteMs * drawStretch(random, model.spread),
  })

  function send(own: Making): void {
    const { request } = own
    if (own.cancelled) {
      end(own, { ok: false, error: callOff(request.id) })
      return
    }
    const isClaim = request.parent === undefined && pool.claim()
    if (!isClaim) appear(1)
    own.exists = true
    bringUp(own, request.parent !== undefined ? 'fork' : isClaim ? 'claim' : 'cold')
  }

  function bringUp(own: Making, origin: SandboxOrigin): void {
    const { start, commandMs, serve, spread } = model.paths[origin]
    const { request } = own
    const stretch = drawStretch(random, spread)
    operations.take(origin, start, stretch, atOnce => {
      if (own.cancelled) return
      if (origin === 'cold' && random() < interpolate(model.failures, atOnce)) {
        own.cancelled = true
        vanish(own, createFailed(request.id, atOnce))
        return
      }
      // A fork's server came with it, so that it is worth copying before it can be reached.
      if (origin === 'fork') request.onForkable()
      operations.work(hostMs, () =>
        timeline.after(commandMs * stretch, () => {
          if (own.cancelled) return
          operations.take(origin === 'fork' ? 'resume' : 'boot', serve, stretch, () =>
            operations.work(hostMs, () => {
              if (own.cancelled) return
              if (origin !== 'fork') request.onForkable()
              end(own, { ok: true, origin })
            }),
          )
        }),
      )
    })
  }

  /** What is half made is deleted before its maker is told. */
  function vanish(own: Making, error: ErrorData): void {
    timeline.after(deleteMs(), () => {
      alive -= 1
      end(own, { ok: false, error })
    })
  }

  function end(own: Making, made: Made): void {
    making.delete(own.request.id)
    own.request.onEnd(made)
  }

  const deleteMs = () => model.deleteMs * drawStretch(random, model.spread)

  return {
    get alive() {
      return alive
    },
    get unclaimed() {
      return pool.ready
    },
    get created() {
      return created
    },
    make(request) {
      const own: Making = { request, exists: false, cancelled: false }
      making.set(request.id, own)
      operations.work(hostMs, () => send(own))
    },
    cancel(id) {
      const own = making.get(id)
      if (own === undefined || own.cancelled) return
      own.cancelled = true
      if (own.exists) vanish(own, callOff(id))
    },
    remove(_id, delayMs, done) {
      timeline.after(delayMs + deleteMs(), () => {
        alive -= 1
        done()
      })
    },
    holdPool(size, done) {
      appear(ANCHORS)
      timeline.after(HOLD_MS, () => {
        pool.open(size)
        done()
      })
    },
    countPool(done) {
      timeline.after(CALL_MS, () => done(pool.ready))
    },
    dropPool(done) {
      pool.close()
      timeline.after(2 * deleteMs(), () => {
        alive -= ANCHORS
        done()
      })
    },
  }
}
