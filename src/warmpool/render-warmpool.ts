import type { LevelPhase, LevelRow, PoolMeasurement } from './columns.ts'
import { groupBy, median, ratio } from './median.ts'
import {
  type FigureTable,
  inSeconds,
  toAgainstTable,
  toBatchTable,
  toCaution,
  toFound,
  toHeldTable,
  toTrouble,
  toVerdict,
} from './render-tables.ts'

/** What a measurement says, in words and in tables. */
export interface PoolReport {
  readonly title: string
  readonly words: readonly string[]
  readonly tables: readonly FigureTable[]
}

/** `troupe warmpool`'s. */
export function reportWarmpool(measured: PoolMeasurement): PoolReport {
  const { levels, moments } = measured
  const of = (phase: LevelPhase) => levels.filter(row => row.phase === phase)
  const [warm, drain, batches] = [of('warm'), of('drain'), of('batch')]
  const { n, size } = [...warm, ...drain, ...batches][0] ?? levels[0] ?? {}
  const kinds = new Map([
    ['cold', of('cold')],
    ['warm', warm],
  ])
  return {
    title: `${n} sandboxes at once, cold and from a pool of ${size ?? n}`,
    words: [
      ...toFillWords(warm, drain),
      ...toUsableWords(of('cold'), warm),
      ...toBatchWords(batches),
      toCaution(measured),
      ...toTrouble(measured),
    ],
    tables: [
      toAgainstTable('Cold against warm', 'found ready', kinds),
      ...(batches.length === 0
        ? []
        : [toBatchTable('Batches, one right behind the other, from a full pool', 'found ready', batches)]),
      ...(moments.length === 0
        ? []
        : [toHeldTable('What the pool held, in the first repetition, from beginning to end of each stretch', moments)]),
    ],
  }
}

function toFillWords(warm: readonly LevelRow[], drain: readonly LevelRow[]): readonly string[] {
  const [fill, refill] = [median(warm, 'fill_s'), median(drain, 'refill_s')]
  const { n, size } = warm[0] ?? drain[0] ?? {}
  const first = fill === null ? [] : [`took ${inSeconds(fill)} to fill`]
  const again =
    refill === null
      ? []
      : [
          `${refill === 0 ? 'was full again before' : `was full again ${inSeconds(refill)} after`} a batch of ${n} had been given back`,
        ]
  const both = [...first, ...again]
  return both.length === 0 ? [] : [`A pool of ${size} ${both.join(', and ')}.`]
}

function toUsableWords(cold: readonly LevelRow[], warm: readonly LevelRow[]): readonly string[] {
  const [slow, quick] = [median(cold, 'ready_p50_s'), median(warm, 'ready_p50_s')]
  const times = ratio(slow, quick)
  if (times === null) return []
  return [
    `Half of ${warm[0]?.n} sandboxes asked for at once were usable in ${inSeconds(quick)}, against ${inSeconds(slow)} cold: ${toVerdict(times)}. ${toFound(warm)} were found ready.`,
  ]
}

function toComing(batch: readonly LevelRow[]): string {
  const coming = median(batch, 'held_creating')
  return coming === null || coming === 0 ? '' : ` and ${Math.round(coming)} on their way`
}

const ORDINALS = ['first', 'second', 'third', 'fourth', 'fifth']
const toOrdinal = (batch: number): string => ORDINALS[batch - 1] ?? `${batch}th`

function toBatchWords(batches: readonly LevelRow[]): readonly string[] {
  return [...groupBy(batches, 'batch')]
    .filter(([batch]) => batch > 1)
    .map(
      ([batch, own]) =>
        `A ${toOrdinal(batch)} batch right behind the ${toOrdinal(batch - 1)} found ${toFound(own)} ready${toComing(own)}, and half of it was usable in ${inSeconds(median(own, 'ready_p50_s'))}.`,
    )
}
