import { makeSubjects, type Subject, type Way } from './codec/subjects.ts'
import type { Given } from './given.ts'
import { type Case, type Figure, mapFigure, measureRates, repeated, toMicros } from './measure.ts'
import { type BenchRow, type BenchTable, formatNumber } from './table.ts'

const OTHERS = ['JSON', 'structured clone'] as const

/** What it costs to make bytes of what the engine sends and keeps and to read them, beside JSON and the structured clone; figures are for one message. */
export async function codecBench({ quick, signal }: Given): Promise<BenchTable> {
  const subjects = makeSubjects()
  const rateOf = await measureRates(subjects.flatMap(toCases), quick ? 7 : 25, signal)
  return {
    title: 'bytes of messages, frames and trajectories',
    rows: subjects.flatMap(subject => toRows(subject, rateOf)),
  }
}

function toCases(subject: Subject): readonly Case[] {
  const { messages, ways } = subject
  return Object.entries(ways).flatMap(([way, { pack, unpack }]) => {
    // Some packers use one buffer over and over.
    const packed = Uint8Array.from(pack())
    return [
      repeated(caseName(subject, way, 'pack'), pack, messages),
      repeated(caseName(subject, way, 'unpack'), () => unpack(packed), messages),
    ]
  })
}

function toRows(subject: Subject, rateOf: (name: string) => Figure): readonly BenchRow[] {
  const { name, messages, ways } = subject
  const sizeOf = ({ pack }: Way) => pack().byteLength / messages
  const bytes = sizeOf(ways.ours)
  return [
    ...OTHERS.map(other => compare(`${name}: size`, 'bytes', bytes, other, sizeOf(ways[other]))),
    ...(['pack', 'unpack'] as const).flatMap(what => {
      const rate = rateOf(caseName(subject, 'ours', what))
      const { value, spread } = toMicros(rate)
      const throughput = mapFigure(rate, perSecond => (perSecond * bytes) / 1e6)
      return [
        ...OTHERS.map(other => ({
          ...compare(`${name}: ${what}`, 'µs', value, other, toMicros(rateOf(caseName(subject, other, what))).value),
          spread,
        })),
        { name: `${name}: ${what}`, value: throughput.value, spread: throughput.spread, unit: 'MB/s' },
      ]
    }),
  ]
}

function compare(name: string, unit: string, value: number, other: string, theirs: number): BenchRow {
  return { name, value, unit, reference: `${other} ${formatNumber(theirs)} ${unit}`, ratio: value / theirs }
}

const caseName = ({ name }: Subject, way: string, what: 'pack' | 'unpack') => `${name}, ${way}, ${what}`
