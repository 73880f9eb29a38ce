import type { Clock } from '../clock.ts'

export type ThrottlerName = 'authenticated' | 'sandbox-create' | 'sandbox-lifecycle'

/** Calls a minute. */
export type RateLimits = Readonly<Record<ThrottlerName, number>>

export interface Admission {
  readonly admitted: boolean
  readonly headers: Readonly<Record<string, string>>
}

/** Calls since the start, by what limits them. */
export type CallCounts = Readonly<Record<ThrottlerName, { admitted: number; refused: number }>>

const WINDOW_MS = 60_000

/** One window a minute for each throttler, as the provider counts. Minutes are those of `clock`; headers are in its real seconds. */
export function makeThrottle(limits: RateLimits, clock: Clock, speed: number) {
  const windows = new Map<ThrottlerName, { startedAt: number; used: number }>()
  const counts: CallCounts = {
    authenticated: { admitted: 0, refused: 0 },
    'sandbox-create': { admitted: 0, refused: 0 },
    'sandbox-lifecycle': { admitted: 0, refused: 0 },
  }
  return {
    counts,
    admit(name: ThrottlerName): Admission {
      const now = clock.now()
      let window = windows.get(name)
      if (window === undefined || now - window.startedAt >= WINDOW_MS) {
        window = { startedAt: now, used: 0 }
        windows.set(name, window)
      }
      const limit = limits[name]
      const admitted = window.used < limit
      if (admitted) window.used += 1
      counts[name][admitted ? 'admitted' : 'refused'] += 1
      const resetSeconds = Math.max(1, Math.ceil((WINDOW_MS - (now - window.startedAt)) / 1000 / speed))
      return {
        admitted,
        headers: {
          [`x-ratelimit-limit-${name}`]: String(limit),
          [`x-ratelimit-remaining-${name}`]: String(limit - window.used),
          [`x-ratelimit-reset-${name}`]: String(resetSeconds),
          ...(admitted ? {} : retryAfter(name, resetSeconds)),
        },
      }
    },
  }
}

/** In both forms that the provider is known to send. */
export function retryAfter(name: ThrottlerName, seconds: number): Record<string, string> {
  return { 'retry-after': String(seconds), [`retry-after-${name}`]: String(seconds) }
}
