import { medianOf, toPercentiles } from '../../../src/ladder/percentiles.ts'
import { type BenchRow, formatNumber } from '../../table.ts'
import type { SandboxLevel, SideName } from './figures.ts'

const MIB = 2 ** 20
const AIMED_WIDTH = 256
const COLD_AIM = 2 / 3
const WARM_AIM = 0.1

/** What stands beside what, with its aim, at the widths that aims are for. */
const PAIRS = [
  { ours: 'cold', theirs: 'hud cold', name: 'cold', peer: 'HUD as it comes', aim: COLD_AIM },
  { ours: 'cold', theirs: 'hud cold lean', name: 'cold', peer: 'HUD without certificates', aim: COLD_AIM },
  { ours: 'prewarm', theirs: 'hud pool lean', name: 'warm, our pool', peer: "HUD, provider's pool", aim: WARM_AIM },
  {
    ours: 'provider-pool',
    theirs: 'hud pool lean',
    name: "warm, provider's pool",
    peer: "HUD, provider's pool",
    aim: undefined,
  },
] as const satisfies readonly {
  ours: SideName
  theirs: SideName
  name: string
  peer: string
  aim: number | undefined
}[]

/** Time to usable of both, and what the clients themselves used: medians over the levels of a side. */
export function toSandboxRows(levels: readonly SandboxLevel[]): readonly BenchRow[] {
  const widths = [...new Set(levels.map(({ width }) => width))]
  const of = (side: SideName, width: number) => levels.filter(level => level.side === side && level.width === width)
  const pairs = widths.flatMap(width =>
    PAIRS.flatMap(pair => {
      const ours = of(pair.ours, width)
      const theirs = of(pair.theirs, width)
      return ours.length === 0 || theirs.length === 0 ? [] : rowsOf({ ...pair, ours, theirs, width })
    }),
  )
  const total = (figure: (level: SandboxLevel) => number) => levels.reduce((sum, level) => sum + figure(level), 0)
  const failed = total(({ failures }) => failures.length)
  const leaked = total(level => level.leaked)
  return [
    ...pairs,
    { name: 'sandboxes made usable', value: total(({ usableMs }) => usableMs.length), unit: '' },
    { name: '  failed', value: failed, unit: '', aim: '0', met: failed === 0 },
    { name: '  leaked', value: leaked, unit: '', aim: '0', met: leaked === 0 },
  ]
}

interface Pair {
  readonly ours: readonly SandboxLevel[]
  readonly theirs: readonly SandboxLevel[]
  readonly width: number
  readonly name: string
  readonly peer: string
  readonly aim: number | undefined
}

function rowsOf({ ours, theirs, width, name, peer, aim }: Pair): readonly BenchRow[] {
  const row = (rowName: string, unit: string, figure: (level: SandboxLevel) => number): BenchRow => {
    const value = medianOf(ours.map(figure))
    const other = medianOf(theirs.map(figure))
    return { name: rowName, value, unit, reference: `${peer} ${formatNumber(other)}`, ratio: value / other }
  }
  const usable = row(`${name}, ${width} wide: usable p50`, 's', level => toPercentiles(level.usableMs).p50 / 1_000)
  const aimed =
    aim === undefined || width !== AIMED_WIDTH
      ? usable
      : { ...usable, aim: `<= ${formatNumber(aim)} x`, met: (usable.ratio ?? Number.NaN) <= aim }
  return [
    aimed,
    row('  usable p95', 's', level => toPercentiles(level.usableMs).p95 / 1_000),
    row('  CPU of the client', 'ms a sandbox', ({ cpuMs }) => cpuMs),
    row('  peak RSS of the client', 'MiB', ({ peakBytes }) => peakBytes / MIB),
    row('  loop delay p99', 'ms', ({ loopP99Ms }) => loopP99Ms),
  ]
}
