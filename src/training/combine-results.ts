import type { ForwardBackwardResult } from './trainer.ts'

/**
 * One result of several parts of a batch. The end of a metric's name says how: `:sum`, `:min` and `:max` are what they say; the others
 * are means, and are weighted by datums.
 */
export function combineResults(parts: readonly ForwardBackwardResult[]): ForwardBackwardResult {
  const numDatums = parts.reduce((sum, part) => sum + part.numDatums, 0)
  const names = new Set(parts.flatMap(({ metrics }) => Object.keys(metrics)))
  const metrics = Object.fromEntries([...names].map(name => [name, combineMetric(name, parts)]))
  return { metrics, numDatums }
}

function combineMetric(name: string, parts: readonly ForwardBackwardResult[]): number {
  const known = parts.flatMap(({ metrics, numDatums }) => {
    const value = metrics[name]
    return value === undefined ? [] : [{ value, weight: numDatums }]
  })
  const values = known.map(({ value }) => value)
  if (name.endsWith(':sum')) return values.reduce((sum, value) => sum + value, 0)
  if (name.endsWith(':min')) return Math.min(...values)
  if (name.endsWith(':max')) return Math.max(...values)
  const weight = known.reduce((sum, each) => sum + each.weight, 0)
  if (weight === 0) return values.reduce((sum, value) => sum + value, 0) / values.length
  return known.reduce((sum, each) => sum + each.value * each.weight, 0) / weight
}
