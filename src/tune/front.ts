import type { Evaluated } from './evaluate.ts'

/** A step that is quicker by less than that is as quick. */
const SAME = 1e-4

/** Those that no other beats in both idle time and step latency, from the cheapest to the quickest. */
export function toFront(all: readonly Evaluated[]): readonly Evaluated[] {
  const byCost = all.toSorted(
    (left, right) => left.idleSeconds.mean - right.idleSeconds.mean || left.stepMs.mean - right.stepMs.mean,
  )
  let quickest = Number.POSITIVE_INFINITY
  return byCost.filter(({ stepMs }) => {
    if (stepMs.mean >= quickest * (1 - SAME)) return false
    quickest = stepMs.mean
    return true
  })
}

/**
 * The place of the front that lies farthest below the straight line between its two ends, both axes scaled to those: the knee as Satopää and others (2011) find it,
 * without their smoothing. Undefined where the front has no bend.
 */
export function findKnee(front: readonly Evaluated[]): Evaluated | undefined {
  const [first, last] = [front.at(0), front.at(-1)]
  if (first === undefined || last === undefined || front.length < 3) return undefined
  const idle = last.idleSeconds.mean - first.idleSeconds.mean
  const gain = first.stepMs.mean - last.stepMs.mean
  let knee: Evaluated | undefined
  let farthest = 0
  for (const each of front) {
    const x = (each.idleSeconds.mean - first.idleSeconds.mean) / idle
    const y = (first.stepMs.mean - each.stepMs.mean) / gain
    if (y - x <= farthest) continue
    farthest = y - x
    knee = each
  }
  return knee
}
