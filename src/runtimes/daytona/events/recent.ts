/** The latest of each key, `limit` keys at most: the oldest gives way. */
export interface Recent<Value> {
  get(key: string): Value | undefined
  set(key: string, value: Value): void
  clear(): void
}

export function makeRecent<Value>(limit: number): Recent<Value> {
  const values = new Map<string, Value>()
  return {
    get: key => values.get(key),
    set(key, value) {
      values.delete(key)
      values.set(key, value)
      const [oldest] = values.keys()
      if (values.size > limit && oldest !== undefined) values.delete(oldest)
    },
    clear: () => values.clear(),
  }
}
