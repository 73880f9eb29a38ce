import { type SecondsAxis, toPlace } from './seconds-axis.ts'

interface NamedLine {
  /** From narrow to wide. */
  readonly points: readonly { readonly n: number; readonly seconds: number }[]
}

/** Pixels above or below the point at which a line ends early: lines rise to the right, so that there is room above on the left, and below on the right. */
const ASIDE = 15
/** Pixels between two names. */
const NAME_GAP = 19

export interface NamePlace {
  readonly side: 'right' | 'left'
  /** By how many pixels it is moved, so that it stands clear of the others. */
  readonly down: number
}

/**
 * Names stand at the ends of their lines, and where these are too near each other, as near to them as there is room. The name of a line that ends before the widest
 * level stands above it if nothing there is slower, and else below it.
 */
export function placeNames(
  lines: readonly NamedLine[],
  { min, max }: SecondsAxis,
  height: number,
): readonly NamePlace[] {
  const widest = Math.max(...lines.flatMap(({ points }) => points.map(({ n }) => n)))
  const ends = lines.map(({ points }) => {
    const last = points.at(-1)
    const seconds = last?.seconds ?? 0
    const at = ((max - toPlace(seconds)) / (max - min)) * height
    return { n: last?.n ?? 0, seconds, at }
  })
  const named = ends.map(end => {
    const there = lines.flatMap(({ points }) => points.filter(({ n }) => n === end.n).map(({ seconds }) => seconds))
    const above = end.n < widest && end.seconds >= Math.max(...there)
    const aside = end.n === widest ? 0 : above ? -ASIDE : ASIDE
    return { ...end, side: above ? ('left' as const) : ('right' as const), place: end.at + aside }
  })
  for (const { n, side } of named) spreadOut(named.filter(other => other.n === n && other.side === side))
  return named.map(({ side, at, place }) => ({ side, down: place - at }))
}

/** Each pass moves neighbours that are too near apart by half of what is missing. */
function spreadOut(names: readonly { readonly at: number; place: number }[]): void {
  const down = names.toSorted((one, other) => one.at - other.at)
  for (let pass = 0; pass < 60; pass += 1)
    for (const [index, name] of down.entries()) {
      const next = down[index + 1]
      if (next === undefined) continue
      const missing = Math.max(0, NAME_GAP - (next.place - name.place))
      name.place -= missing / 2
      next.place += missing / 2
    }
}
