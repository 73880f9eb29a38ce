import { medianOf } from '../ladder/percentiles.ts'
import type { LevelFigure, LevelRow } from './columns.ts'

/** Over those that have it; null where none has. */
export function median(rows: readonly LevelRow[], figure: LevelFigure): number | null {
  const values = rows.flatMap(row => row[figure] ?? [])
  return values.length === 0 ? null : medianOf(values)
}

export function total(rows: readonly LevelRow[], figure: LevelFigure): number {
  return rows.reduce((sum, row) => sum + (row[figure] ?? 0), 0)
}

/** How many times as long; null where either was not measured, or took no time. */
export function ratio(one: number | null, other: number | null): number | null {
  return one === null || other === null || other === 0 ? null : one / other
}

/** Those of each number, in the order in which they come. */
export function groupBy(rows: readonly LevelRow[], figure: LevelFigure): ReadonlyMap<number, readonly LevelRow[]> {
  return gather(
    rows.filter(row => row[figure] !== undefined),
    row => row[figure] ?? 0,
  )
}

/** By key, in the order of the first of each. */
export function gather<Value, Key>(
  values: readonly Value[],
  toKey: (value: Value) => Key,
): ReadonlyMap<Key, readonly Value[]> {
  const gathered = new Map<Key, Value[]>()
  for (const value of values) {
    const key = toKey(value)
    const own = gathered.get(key)
    if (own === undefined) gathered.set(key, [value])
    else own.push(value)
  }
  return gathered
}
