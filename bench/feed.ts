import { loadavg } from 'node:os'
import { fileURLToPath } from 'node:url'
import { execa } from 'execa'
import type { Turn } from './feed/one.ts'
import type { Kind } from './feed/round.ts'
import { type Figure, median, toCell, toFigure } from './measure.ts'
import type { BenchTable } from './table.ts'

const script = fileURLToPath(new URL('./feed/one.js', import.meta.url))
const TIMEOUT_MS = 900_000
const AIM_PERCENT = 3
const WIDTHS = [256, 4_096] as const

/** What a feed beside the journal costs no-op rollouts, read and unread, 256 and 4,096 wide: turns of rounds, each kind first in turn. */
export async function feedBench({
  quick,
  signal,
}: {
  readonly quick: boolean
  readonly signal?: AbortSignal
}): Promise<BenchTable> {
  const shape = quick ? { turns: 2, rollouts: 4_096 } : { turns: 6, rollouts: 16_384 }
  const loadBefore = loadavg()
  const rows: BenchTable['rows'][number][] = []
  for (const width of WIDTHS) {
    const { stdout } = await execa(process.execPath, [script, JSON.stringify({ ...shape, width })], {
      timeout: TIMEOUT_MS,
      stderr: 'inherit',
      ...(signal === undefined ? {} : { cancelSignal: signal }),
    })
    rows.push(...toRows(width, JSON.parse(stdout)))
  }
  return {
    title: `feed: ${shape.turns} turns of ${shape.rollouts} no-op rollouts, each without a feed, with one, and with one that is read`,
    rows,
    notes: `Load average before and after: ${[loadBefore, loadavg()].map(([minute = 0]) => minute.toFixed(2)).join(', ')}.`,
  }
}

function toRows(width: number, turns: readonly Turn[]): BenchTable['rows'] {
  const of = (pick: (turn: Turn) => number): Figure => toFigure(turns.map(pick))
  const lost = (kind: Kind) => (1 - of(turn => turn[kind].perSecond / turn.without.perSecond).value) * 100
  const more = (kind: Kind) => (of(turn => turn[kind].cpuMs / turn.without.cpuMs).value - 1) * 100
  const limit = (percent: number) => ({ aim: `< ${AIM_PERCENT} %`, met: percent < AIM_PERCENT })
  const kinds = ['unwatched', 'watched'] as const
  return [
    {
      name: `${width} wide, without a feed`,
      ...toCell(
        of(turn => turn.without.perSecond),
        'rollouts/s',
      ),
    },
    ...kinds.flatMap(kind => [
      {
        name: `  ${kind}`,
        ...toCell(
          of(turn => turn[kind].perSecond),
          'rollouts/s',
        ),
      },
      { name: '    what it costs of the throughput', value: lost(kind), unit: '%', ...limit(lost(kind)) },
      { name: '    what it costs of the CPU', value: more(kind), unit: '%' },
    ]),
    { name: '  ticks read a round', value: median(turns.map(({ watched }) => watched.ticks)), unit: 'ticks' },
  ]
}
