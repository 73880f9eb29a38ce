import type { Clock } from './clock.ts'

/** How a step ended that may not last longer than its limit. */
export type BoundedEnd<Value> =
  | { readonly kind: 'ended'; readonly value: Value }
  | { readonly kind: 'failed'; readonly error: unknown }
  | { readonly kind: 'late' }

/** Waits `limitMs` at most. What comes later is dropped. Never rejects. */
export function bounded<Value>(
  clock: Clock,
  limitMs: number,
  step: () => PromiseLike<Value> | Value,
): Promise<BoundedEnd<Value>> {
  return new Promise(resolve => {
    const cancel = clock.after(limitMs, () => resolve({ kind: 'late' }))
    const settle = (end: BoundedEnd<Value>) => {
      cancel()
      resolve(end)
    }
    Promise.resolve()
      .then(step)
      .then(
        value => settle({ kind: 'ended', value }),
        (error: unknown) => settle({ kind: 'failed', error }),
      )
  })
}

/** What `promise` came to, or undefined after `limitMs`. Never rejects. */
export function settleWithin<Value>(
  clock: Clock,
  limitMs: number,
  promise: Promise<Value>,
): Promise<Value | undefined> {
  return new Promise(resolve => {
    const cancel = clock.after(limitMs, () => resolve(undefined))
    const settle = (value: Value | undefined) => {
      cancel()
      resolve(value)
    }
    promise.then(settle, () => settle(undefined))
  })
}

/** `promise`, or a rejection with the signal's reason as soon as that aborts. What `promise` does then is dropped. */
export function untilAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}
