/** A straight line through points, by least squares. */
export interface Line {
  /** What y gains for each unit of x. */
  readonly slope: number
  /** Of the slope, from how far the points lie from the line. NaN below three points. */
  readonly standardError: number
}

export function fitLine(points: readonly (readonly [x: number, y: number])[]): Line {
  const count = points.length
  const meanX = points.reduce((sum, [x]) => sum + x, 0) / count
  const meanY = points.reduce((sum, [, y]) => sum + y, 0) / count
  let spread = 0
  let together = 0
  for (const [x, y] of points) {
    spread += (x - meanX) ** 2
    together += (x - meanX) * (y - meanY)
  }
  const slope = together / spread
  const left = points.reduce((sum, [x, y]) => sum + (y - meanY - slope * (x - meanX)) ** 2, 0)
  return { slope, standardError: count < 3 ? Number.NaN : Math.sqrt(left / (count - 2) / spread) }
}

/** Whether the line goes up by more than `small` a unit, and by more than chance would: two standard errors. */
export function grows({ slope, standardError }: Line, small: number): boolean {
  return slope > Math.max(small, 2 * standardError)
}
