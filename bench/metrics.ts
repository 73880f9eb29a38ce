import { availableParallelism, loadavg } from 'node:os'
import { fileURLToPath } from 'node:url'
import { execa } from 'execa'
import { type Figure, median, toCell, toFigure } from './measure.ts'
import type { Shape, Turn } from './metrics/one.ts'
import type { Round } from './metrics/round.ts'
import type { Watch } from './metrics/watchers.ts'
import { WORKS, type WorkName } from './metrics/work.ts'
import type { BenchRow, BenchTable } from './table.ts'

const script = fileURLToPath(new URL('./metrics/one.js', import.meta.url))
const TIMEOUT_MS = 1_200_000
const AIM_PERCENT = 3
const NAMES: Readonly<Record<Watch, string>> = {
  off: 'nobody watches',
  metrics: 'scraped every second, events written',
  traces: 'that, and traces of all rollouts sent',
}

const SHAPES = {
  full: [
    { work: 'calc', turns: 6, rollouts: 192 },
    { work: 'noop', turns: 6, rollouts: 6_000 },
  ],
  quick: [
    { work: 'calc', turns: 3, rollouts: 128 },
    { work: 'noop', turns: 3, rollouts: 2_000 },
  ],
} as const satisfies Readonly<Record<string, readonly Shape[]>>

/**
 * What `--metrics`, scraped every second, with `--events`, and those with `--traces`, cost rollouts of the calc environment and rollouts that do nothing: rounds of
 * each kind next to each other, in all orders in turn. What it costs is the median of the ratios in each turn, so that a machine that is busy for a while is so
 * for all of them.
 */
export async function metricsBench({
  quick,
  signal,
}: {
  readonly quick: boolean
  readonly signal?: AbortSignal
}): Promise<BenchTable> {
  const parts: Part[] = []
  for (const shape of quick ? SHAPES.quick : SHAPES.full) {
    const loadBefore = loadavg()
    const { stdout } = await execa(process.execPath, [script, JSON.stringify(shape)], {
      timeout: TIMEOUT_MS,
      stderr: 'inherit',
      ...(signal === undefined ? {} : { cancelSignal: signal }),
    })
    const load = [loadBefore, loadavg()].map(([minute = 0]) => minute.toFixed(2)).join(', ')
    parts.push({ shape, turns: JSON.parse(stdout), load })
  }
  return {
    title: `metrics: ${parts.map(({ shape }) => `${shape.turns} turns of ${shape.rollouts} ${shape.work} rollouts of each kind, ${WORKS[shape.work].width} wide`).join('; ')}`,
    rows: parts.flatMap(toPartRows),
    notes: parts.map(toNote).join(' '),
  }
}

/** The rounds of one work, and how busy the machine was before and after them. */
interface Part {
  readonly shape: Shape
  readonly turns: readonly Turn[]
  readonly load: string
}

const toPartRows = ({ shape: { work }, turns }: Part): readonly BenchRow[] => [
  { name: `${work}: ${NAMES.off}`, ...toCell(of(turns, 'off', 'perSecond'), 'rollouts/s') },
  { name: '  engine CPU', ...toCell(of(turns, 'off', 'cpuMs'), 'ms a rollout') },
  ...toRows(work, turns, 'metrics'),
  ...toRows(work, turns, 'traces'),
  { name: '  spans a round', value: median(turns.map(({ traces }) => traces.spans)), unit: 'spans' },
]

const toNote = ({ shape: { work }, turns, load }: Part): string =>
  `${work}: load average before and after ${load}; throughput against nobody watching, by turn: ${toTexts(turns, 'metrics')} with metrics, ${toTexts(turns, 'traces')} with traces, too.`

function toRows(work: WorkName, turns: readonly Turn[], how: Exclude<Watch, 'off'>): readonly BenchRow[] {
  const rate = ratio(turns, how, 'perSecond').value
  const cpu = ratio(turns, how, 'cpuMs')
  const costPercent = (1 - rate) * 100
  const off = `${work}: ${NAMES.off}`
  return [
    {
      name: `${work}: ${NAMES[how]}`,
      ...toCell(of(turns, how, 'perSecond'), 'rollouts/s'),
      reference: off,
      ratio: rate,
    },
    {
      name: '  what it costs of the throughput',
      value: costPercent,
      unit: '%',
      aim: `< ${AIM_PERCENT} %`,
      met: costPercent < AIM_PERCENT,
    },
    { name: '  engine CPU', ...toCell(of(turns, how, 'cpuMs'), 'ms a rollout'), reference: off, ratio: cpu.value },
    { name: '  engine CPU that it adds', ...toCell(added(turns, how), 'ms a rollout') },
    { name: '  that, of all cores', value: coresPercent(turns, how), unit: '%' },
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

/** What the engine's process works more, as a share of what the machine can: throughput cannot fall by more where the cores are what bounds it. */
const coresPercent = (turns: readonly Turn[], how: Watch): number =>
  (100 * added(turns, how).value * of(turns, 'off', 'perSecond').value) / (1_000 * availableParallelism())

const toRatio = (round: Round, off: Round, what: Measure): number => round[what] / off[what]

const toTexts = (turns: readonly Turn[], how: Watch): string =>
  turns.map(turn => toRatio(turn[how], turn.off, 'perSecond').toFixed(3)).join(' ')
