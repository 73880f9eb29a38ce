/** Simulated time: events in the order of their times, then of their scheduling. Nothing here takes real time. */
export interface Timeline {
  /** Milliseconds since the simulation began. */
  now(): number
  after(delayMs: number, happen: () => void): void
  /** Lets the next event happen; false when none is left. */
  next(): boolean
  /** Events that have happened. */
  readonly happened: number
}

interface Event {
  readonly at: number
  readonly order: number
  readonly happen: () => void
}

export function makeTimeline(): Timeline {
  const heap: Event[] = []
  let now = 0
  let order = 0
  let happened = 0
  return {
    now: () => now,
    after(delayMs, happen) {
      push(heap, { at: now + Math.max(0, delayMs), order: order++, happen })
    },
    next() {
      const event = pop(heap)
      if (event === undefined) return false
      now = event.at
      happened += 1
      event.happen()
      return true
    },
    get happened() {
      return happened
    },
  }
}

const isBefore = (one: Event, other: Event): boolean =>
  one.at < other.at || (one.at === other.at && one.order < other.order)

/** A binary heap: the event that comes first is at its top. */
function push(heap: Event[], event: Event): void {
  let place = heap.push(event) - 1
  while (place > 0) {
    const above = (place - 1) >> 1
    const parent = heap[above]
    if (parent === undefined || isBefore(parent, event)) break
    heap[place] = parent
    place = above
  }
  heap[place] = event
}

function pop(heap: Event[]): Event | undefined {
  const [first] = heap
  const last = heap.pop()
  if (last === undefined || heap.length === 0) return first
  let place = 0
  for (;;) {
    const left = heap[2 * place + 1]
    const right = heap[2 * place + 2]
    const isRight = left !== undefined && right !== undefined && isBefore(right, left)
    const child = isRight ? right : left
    if (child === undefined || isBefore(last, child)) break
    heap[place] = child
    place = 2 * place + (isRight ? 2 : 1)
  }
  heap[place] = last
  return first
}
