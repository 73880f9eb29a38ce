/** One operation among those of its kind that are under way. */
export interface Visit {
  /** The most that were under way at once from its beginning until now. */
  peak(): number
  leave(): void
}

/** Counts how many operations of one kind are under way, and remembers peaks for as long as anyone may ask. */
export interface Crowd {
  enter(): Visit
}

/**
 * A count only peaks where somebody enters. So the greatest since an entry is found among the entries that no later one has reached: a list whose counts
 * fall, never longer than the highest of them.
 */
export function makeCrowd(): Crowd {
  let size = 0
  let entries = 0
  let peaks: { readonly entry: number; readonly size: number }[] = []

  return {
    enter() {
      const entry = entries++
      size += 1
      while ((peaks.at(-1)?.size ?? Number.POSITIVE_INFINITY) <= size) peaks.pop()
      peaks.push({ entry, size })
      return {
        peak: () => peaks[firstFrom(peaks, entry)]?.size ?? size,
        leave() {
          size -= 1
          if (size === 0) peaks = []
        },
      }
    },
  }
}

/** The place of the first peak that is not older than `entry`. */
function firstFrom(peaks: readonly { readonly entry: number }[], entry: number): number {
  let low = 0
  let high = peaks.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((peaks[middle]?.entry ?? 0) < entry) low = middle + 1
    else high = middle
  }
  return low
}
