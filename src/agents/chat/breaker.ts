import type { Clock } from '../../clock.ts'
import { endpointDown } from './errors.ts'

/** An endpoint counts as down after so many failed attempts in a row, when they span so long; then it is left alone that long. */
export const BREAKER = { failures: 10, spanMs: 30_000, cooldownMs: 30_000 } as const

/** Tells rollouts whose endpoint is dead so at once, in place of each finding out for itself. One an origin and thread. */
export interface EndpointBreaker {
  /**
   * Called before an attempt. True: it is the one probe after a cool-down, which decides. Throws `endpoint-down` while the endpoint
   * counts as down.
   */
  enter(): boolean
  /** The endpoint answered, whatever it said. */
  alive(): void
  failed(words: string): void
  /** An attempt was called off before it could show anything. */
  calledOff(wasProbe: boolean): void
}

type State =
  | { readonly type: 'closed'; readonly failures: number; readonly since: number }
  | { readonly type: 'open'; readonly failures: number; readonly until: number; readonly last: string }
  | { readonly type: 'probing'; readonly failures: number; readonly last: string }

export function makeEndpointBreaker(origin: string, clock: Clock): EndpointBreaker {
  let state: State = { type: 'closed', failures: 0, since: 0 }
  return {
    enter() {
      if (state.type === 'closed') return false
      const leftMs = state.type === 'open' ? state.until - clock.now() : BREAKER.cooldownMs
      if (leftMs > 0) throw endpointDown(origin, state.failures, leftMs, state.last)
      state = { type: 'probing', failures: state.failures, last: state.last }
      return true
    },
    alive() {
      state = { type: 'closed', failures: 0, since: 0 }
    },
    failed(last) {
      // Attempts sent before it opened may still fail; they do not lengthen the cool-down.
      if (state.type === 'open') return
      const now = clock.now()
      const failures = state.failures + 1
      const since = state.type === 'closed' && state.failures > 0 ? state.since : now
      const isDown = failures >= BREAKER.failures && now - since >= BREAKER.spanMs
      if (state.type === 'probing' || isDown) state = { type: 'open', failures, until: now + BREAKER.cooldownMs, last }
      else state = { type: 'closed', failures, since }
    },
    calledOff(wasProbe) {
      if (wasProbe && state.type === 'probing')
        state = { type: 'open', failures: state.failures, until: clock.now(), last: state.last }
    },
  }
}
