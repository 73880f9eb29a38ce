/** A list that keeps its newest items, and knows which of them are new to whoever took last. */
export interface Newest<Item> {
  add(item: Item): void
  /** Oldest first. */
  all(): readonly Item[]
  /** What came since the last take, oldest first; the newest of it where it is more than a tick may carry. */
  take(): readonly Item[]
  clear(): void
}

/** Of `most` items, of which one tick carries `mostAtOnce`. */
export function makeNewest<Item>(most: number, mostAtOnce: number): Newest<Item> {
  let items: Item[] = []
  let fresh = 0
  return {
    add(item) {
      items.push(item)
      fresh += 1
      // Cut now and then rather than shifted each time.
      if (items.length >= 2 * most) items = items.slice(-most)
    },
    all: () => items.slice(-most),
    take() {
      const taken = fresh === 0 ? [] : items.slice(-Math.min(fresh, mostAtOnce))
      fresh = 0
      return taken
    },
    clear() {
      items = []
      fresh = 0
    },
  }
}
