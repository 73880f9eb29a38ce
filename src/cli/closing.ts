/** Whoever opens it closes it: makes `await using` of anything with a `close` that may be called twice. */
export function closing<Value extends { close(): Promise<void> }>(value: Value): AsyncDisposable & { value: Value } {
  return { value, [Symbol.asyncDispose]: () => value.close() }
}
