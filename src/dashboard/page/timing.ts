/** The browser keeps every measure for good: after so many the old ones are let go. */
const MOST_MEASURES = 2_000
let count = 0

/** Runs it, and leaves how long it took in the browser's own timeline, under that name. Returns the milliseconds. */
export function timed(name: 'hear' | 'show' | 'lanes', work: () => void): number {
  const start = performance.now()
  work()
  const duration = performance.now() - start
  count += 1
  if (count % MOST_MEASURES === 0) performance.clearMeasures()
  performance.measure(name, { start, duration })
  return duration
}
