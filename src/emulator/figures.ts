/**
 * How long each operation takes, in milliseconds, by how many of its kind are under way: points between which the model draws
 * straight lines. Made so that a client that works as the published one did (create, session, exec, ssh access, then `hello`
 * every half second, one after the other) sees the published medians: 2.8, 3.3, 5.1 and 9.9 s at 8, 32, 128 and 256 wide, a
 * warm claim of 0.5 s at 128 with 4.4 s and 7.3 s to usable at 128 and 256, and a fork of 0.66 s.
 */
export const FIGURES = {
  /** What a call costs that only looks. */
  call: [[1, 30]],
  /** Until a create is answered; the sandbox starts meanwhile. */
  accept: [[1, 150]],
  create: [
    [1, 1_200],
    [32, 1_220],
    [128, 1_320],
    [256, 3_060],
    [512, 6_500],
  ],
  claim: [
    [1, 350],
    [128, 500],
    [256, 600],
  ],
  fork: [[1, 660]],
  /** From the child's start until what its parent served answers there too. */
  resume: [[1, 900]],
  session: [[1, 80]],
  exec: [[1, 60]],
  sshAccess: [[1, 100]],
  /** From the command that starts a server until its port answers. */
  boot: [
    [1, 900],
    [8, 980],
    [32, 1_450],
    [128, 3_160],
    [256, 6_100],
    [512, 12_000],
  ],
  start: [[1, 800]],
  stop: [[1, 400]],
  delete: [[1, 500]],
  build: [[1, 74_000]],
} as const satisfies Record<string, readonly (readonly [atOnce: number, ms: number])[]>

export type Operation = keyof typeof FIGURES

/** From an empty pool's first claim until that many members are there again: 13 s for 128, 28 s for 256. */
export const REFILL: readonly (readonly [number, number])[] = [
  [1, 2_500],
  [128, 13_000],
  [256, 28_000],
]
/** A new pool takes half as long again: 38 to 45 s for 256. */
export const FIRST_FILL_FACTOR = 1.5
/** `currentSize` runs this far ahead of the members themselves. */
export const COUNTED_AHEAD_MS = 12_000

/** The share of creates that fail with so many under way: none up to 256, one in a hundred at 512. */
export function createFailureShare(atOnce: number): number {
  return Math.max(0, (0.01 * (atOnce - 256)) / 256)
}

/** The value at `x`, on straight lines between points and on from the last two. */
export function interpolate(points: readonly (readonly [number, number])[], x: number): number {
  let before = points[0] ?? [0, 0]
  let slope = 0
  for (const point of points.slice(1)) {
    slope = (point[1] - before[1]) / (point[0] - before[0])
    if (x <= point[0]) break
    before = point
  }
  return x <= (points[0]?.[0] ?? 0) ? (points[0]?.[1] ?? 0) : before[1] + slope * (x - before[0])
}
