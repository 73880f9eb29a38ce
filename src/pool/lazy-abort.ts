/** An AbortController whose signal is made when it is first looked at: signals are dear, and a create that ends at once has no use for one. */
export interface LazyAbort {
  readonly signal: AbortSignal
  abort(): void
}

export function makeLazyAbort(): LazyAbort {
  let controller: AbortController | undefined
  let aborted = false
  return {
    get signal() {
      if (controller === undefined) {
        controller = new AbortController()
        if (aborted) controller.abort()
      }
      return controller.signal
    },
    abort() {
      aborted = true
      controller?.abort()
    },
  }
}
