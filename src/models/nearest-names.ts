const MOST = 3

/** Up to three of `names` that differ from `name` in no more than half of its letters, the nearest first. Case does not count. */
export function nearestNames(name: string, names: readonly string[]): string[] {
  const wanted = name.toLowerCase()
  // The first of those that differ in case alone.
  const distinct = [...new Map(names.toReversed().map(each => [each.toLowerCase(), each])).values()].toReversed()
  return distinct
    .map(candidate => ({ candidate, distance: editDistance(wanted, candidate.toLowerCase()) }))
    .filter(({ candidate, distance }) => distance <= Math.max(name.length, candidate.length) / 2)
    .sort((one, other) => one.distance - other.distance)
    .slice(0, MOST)
    .map(({ candidate }) => candidate)
}

/** Letters put in, taken out or changed to make one the other (Levenshtein 1966). */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, place) => place)
  for (let i = 1; i <= from.length; i += 1) {
    const next = [i]
    for (let j = 1; j <= to.length; j += 1) {
      const kept = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1)
      next.push(Math.min(kept, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
