/** Opens with the first call, and gives every later one the same. One that failed is tried again with the next call: a server that did not answer once may do so then. */
export function openLate<Value>(open: () => Promise<Value>): () => Promise<Value> {
  let opened: Promise<Value> | undefined
  return () => {
    opened ??= open().catch(error => {
      opened = undefined
      throw error
    })
    return opened
  }
}
