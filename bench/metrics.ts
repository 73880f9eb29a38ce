import { loadavg } from 'node:os'
import { fileURLToPath } from 'node:url'
import { execa } from 'execa'
import { type Figure, median, toCell, toFigure } from './measure.ts'
import type { Pair } from './metrics/one.ts'
import type { BenchTable } from './table.ts'

const script = fileURLToPath(new URL('./metrics/one.js', import.meta.url))
const TIMEOUT_MS = 600_000
const AIM_PERCENT = 3

/** What `--metrics`, scraped every second, and `--events` cost no-op rollouts, 256 wide: pairs of rounds in one run, each kind first in turn. */
export async function metricsBench({
  quick,
  signal,
}: {
  readonly quick: boolean
  readonly signal?: AbortSignal
}): Promise<BenchTable> {
  const shape = quick ? { pairs: 2, rollouts: 2_000 } : { pairs: 8, rollouts: 6_000 }
  const loadBefore = loadavg()
  const { stdout } = await execa(process.execPath, [script, JSON.stringify(shape)], {
    timeout: TIMEOUT_MS,
    stderr: 'inherit',
    ...(signal === undefined ? {} : { cancelSignal: signal }),
  })
  const pairs: readonly Pair[] = JSON.parse(stdout)
  const of = (pick: (pair: Pair) => number): Figure => toFigure(pairs.map(pick))
  const rate = of(({ on, off }) => on.perSecond / off.perSecond).value
  const cpu = of(({ on, off }) => on.cpuMs / off.cpuMs).value
  const toPercent = (ratio: number) => (ratio - 1) * 100
  const off = 'nobody watches'
  const limit = (percent: number) => ({ aim: `< ${AIM_PERCENT} %`, met: percent < AIM_PERCENT })
  return {
    title: `metrics: ${shape.pairs} pairs of ${shape.rollouts} no-op rollouts, 256 wide`,
    rows: [
      {
        name: off,
        ...toCell(
          of(pair => pair.off.perSecond),
          'rollouts/s',
        ),
      },
      {
        name: 'scraped every second, events written',
        ...toCell(
          of(pair => pair.on.perSecond),
          'rollouts/s',
        ),
        reference: off,
        ratio: rate,
      },
      { name: '  what it costs of the throughput', value: -toPercent(rate), unit: '%', ...limit(-toPercent(rate)) },
      {
        name: '  engine CPU, unwatched',
        ...toCell(
          of(pair => pair.off.cpuMs),
          'ms a rollout',
        ),
      },
      {
        name: '  engine CPU, watched',
        ...toCell(
          of(pair => pair.on.cpuMs),
          'ms a rollout',
        ),
        reference: off,
        ratio: cpu,
      },
      { name: '  what it costs of the CPU', value: toPercent(cpu), unit: '%' },
      { name: '  scrapes a round', value: median(pairs.map(({ on }) => on.scrapes)), unit: 'scrapes' },
      { name: '  events a round', value: median(pairs.map(({ on }) => on.events)), unit: 'lines' },
    ],
    notes: `Load average before and after: ${[loadBefore, loadavg()].map(([minute = 0]) => minute.toFixed(2)).join(', ')}. Ratios of the pairs: ${pairs.map(({ on, off }) => (on.perSecond / off.perSecond).toFixed(3)).join(' ')}.`,
  }
}
