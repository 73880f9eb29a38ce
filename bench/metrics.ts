import { loadavg } from 'node:os'
import { fileURLToPath } from 'node:url'
import { execa } from 'execa'
import { type Figure, median, toCell, toFigure } from './measure.ts'
import type { Turn } from './metrics/one.ts'
import type { Round } from './metrics/round.ts'
import type { Watch } from './metrics/watchers.ts'
import type { BenchRow, BenchTable } from './table.ts'

const script = fileURLToPath(new URL('./metrics/one.js', import.meta.url))
const TIMEOUT_MS = 1_200_000
const AIM_PERCENT = 3
const NAMES: Readonly<Record<Watch, string>> = {
  off: 'nobody watches',
  metrics: 'scraped every second, events written',
  traces: 'that, and traces of all rollouts sent',
}

/**
 * What `--metrics`, scraped every second, with `--events`, and those with `--traces`, cost no-op rollouts, 256 wide: rounds of each kind next to each other, in all
 * orders in turn. What it costs is the median of the ratios in each turn, so that a machine that is busy for a while is so for all of them.
 */
export async function metricsBench({
  quick,
  signal,
}: {
  readonly quick: boolean
  readonly signal?: AbortSignal
}): Promise<BenchTable> {
  const shape = quick ? { turns: 3, rollouts: 2_000 } : { turns: 6, rollouts: 6_000 }
  const loadBefore = loadavg()
  const { stdout } = await execa(process.execPath, [script, JSON.stringify(shape)], {
    timeout: TIMEOUT_MS,
    stderr: 'inherit',
    ...(signal === undefined ? {} : { cancelSignal: signal }),
  })
  const turns: readonly Turn[] = JSON.parse(stdout)
  const load = [loadBefore, loadavg()].map(([minute = 0]) => minute.toFixed(2)).join(', ')
  return {
    title: `metrics: ${shape.turns} turns of ${shape.rollouts} no-op rollouts of each kind, 256 wide`,
    rows: [
      { name: NAMES.off, ...toCell(of(turns, 'off', 'perSecond'), 'rollouts/s') },
      { name: '  engine CPU', ...toCell(of(turns, 'off', 'cpuMs'), 'ms a rollout') },
      ...toRows(turns, 'metrics'),
      ...toRows(turns, 'traces'),
      { name: '  spans a round', value: median(turns.map(({ traces }) => traces.spans)), unit: 'spans' },
    ],
    notes: `Load average before and after: ${load}. Throughput against nobody watching, by turn: ${toTexts(turns, 'metrics')} with metrics, ${toTexts(turns, 'traces')} with traces, too.`,
  }
}

function toRows(turns: readonly Turn[], how: Exclude<Watch, 'off'>): readonly BenchRow[] {
  const rate = ratio(turns, how, 'perSecond').value
  const cpu = ratio(turns, how, 'cpuMs')
  const costPercent = (1 - rate) * 100
  return [
    { name: NAMES[how], ...toCell(of(turns, how, 'perSecond'), 'rollouts/s'), reference: NAMES.off, ratio: rate },
    {
      name: '  what it costs of the throughput',
      value: costPercent,
      unit: '%',
      aim: `< ${AIM_PERCENT} %`,
      met: costPercent < AIM_PERCENT,
    },
    {
      name: '  engine CPU',
      ...toCell(of(turns, how, 'cpuMs'), 'ms a rollout'),
      reference: NAMES.off,
      ratio: cpu.value,
    },
    { name: '  engine CPU that it adds', ...toCell(added(turns, how), 'ms a rollout') },
    { name: '  scrapes a round', value: median(turns.map(turn => turn[how].scrapes)), unit: 'scrapes' },
    { name: '  events a round', value: median(turns.map(turn => turn[how].events)), unit: 'lines' },
  ]
}

type Measure = 'perSecond' | 'cpuMs'

const of = (turns: readonly Turn[], how: Watch, what: Measure): Figure => toFigure(turns.map(turn => turn[how][what]))

const ratio = (turns: readonly Turn[], how: Watch, what: Measure): Figure =>
  toFigure(turns.map(turn => toRatio(turn[how], turn.off, what)))

const added = (turns: readonly Turn[], how: Watch): Figure =>
  toFigure(turns.map(turn => turn[how].cpuMs - turn.off.cpuMs))

const toRatio = (round: Round, off: Round, what: Measure): number => round[what] / off[what]

const toTexts = (turns: readonly Turn[], how: Watch): string =>
  turns.map(turn => toRatio(turn[how], turn.off, 'perSecond').toFixed(3)).join(' ')
