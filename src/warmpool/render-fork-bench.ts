import type { LevelRow, PoolMeasurement } from './columns.ts'
import { gather, groupBy, median, ratio, total } from './median.ts'
import {
  type FigureTable,
  inSeconds,
  toAgainstTable,
  toBatchTable,
  toCaution,
  toHeldTable,
  toTrouble,
  toVerdict,
} from './render-tables.ts'
import type { PoolReport } from './render-warmpool.ts'

/** Fewer parents cost less, and what is nearer than this to the best is as good. */
const AS_GOOD = 1.05

/** `troupe fork-bench`'s. */
export function reportForkBench(measured: PoolMeasurement): PoolReport {
  const { levels, moments } = measured
  const cold = levels.filter(({ phase }) => phase === 'cold')
  const forks = groupBy(
    levels.filter(({ phase }) => phase === 'fork'),
    'parents',
  )
  const batches = groupBy(
    levels.filter(({ phase }) => phase === 'batch'),
    'parents',
  )
  const lines = gather(moments, ({ parents = 0 }) => parents)
  const kinds = new Map([['cold', cold], ...[...forks].map(([parents, rows]) => [toName(parents), rows] as const)])
  return {
    title: `${levels[0]?.n} sandboxes at once, created and forked`,
    words: [...toBestWords(cold, forks), toCaution(measured), ...toTrouble(measured)],
    tables: [
      toAgainstTable('Cold against forks', 'forked', kinds),
      toParentsTable(forks),
      ...[...batches].map(([parents, own]) =>
        toBatchTable(`Batches, one right behind the other, ${toName(parents)}`, 'forked', own),
      ),
      ...[...lines].map(([parents, own]) =>
        toHeldTable(
          `What was held in the first repetition, ${toName(parents)}, from beginning to end of each stretch`,
          own,
        ),
      ),
    ],
  }
}

const toName = (parents: number): string => (parents === 1 ? '1 parent' : `${parents} parents`)

/** The fewest parents with which half of a batch is usable about as soon as with the best number of them; undefined where nothing was forked. */
export function bestParents(forks: ReadonlyMap<number, readonly LevelRow[]>): number | undefined {
  const timed = [...forks].flatMap(([parents, rows]) => {
    const took = median(rows, 'ready_p50_s')
    return took === null ? [] : [{ parents, took }]
  })
  const best = Math.min(...timed.map(({ took }) => took))
  const asGood = timed.filter(({ took }) => took <= best * AS_GOOD).map(({ parents }) => parents)
  return asGood.length === 0 ? undefined : Math.min(...asGood)
}

function toBestWords(cold: readonly LevelRow[], forks: ReadonlyMap<number, readonly LevelRow[]>): readonly string[] {
  const best = bestParents(forks)
  const rows = best === undefined ? undefined : forks.get(best)
  if (best === undefined || rows === undefined) return []
  const [slow, quick, filled] = [median(cold, 'ready_p50_s'), median(rows, 'ready_p50_s'), median(rows, 'fill_s')]
  const times = ratio(slow, quick)
  const against = times === null ? '' : `, against ${inSeconds(slow)} cold: ${toVerdict(times)}`
  const others = forks.size > 1 ? ', the fewest that come within 5 % of the best' : ''
  const made = filled === null ? '' : ` Its parents were there after ${inSeconds(filled)}.`
  return [
    `At ${rows[0]?.n} wide, ${toName(best)} did best${others}: half of the sandboxes were usable in ${inSeconds(quick)}${against}.${made}`,
  ]
}

function toParentsTable(forks: ReadonlyMap<number, readonly LevelRow[]>): FigureTable {
  return {
    title: 'By the number of parents',
    head: ['parents', 'there after', 'forked', 'not forked', 'made in all', 'create failures'],
    rows: [...forks].map(([parents, rows]) => [
      String(parents),
      inSeconds(median(rows, 'fill_s')),
      String(total(rows, 'forks')),
      String(total(rows, 'ok') - total(rows, 'forks')),
      String(total(rows, 'creates')),
      String(total(rows, 'create_failures')),
    ]),
  }
}
