import { readTimelines } from '../src/ladder/emulator/emulator-state.ts'
import { runLadder } from '../src/ladder/ladder.ts'
import { toLadderReceipt } from '../src/ladder/ladder-receipt.ts'
import { renderLadder } from '../src/ladder/render-ladder.ts'
import { PUBLISHED_LADDER_RECEIPT, toLadderRows, writeReceipt } from '../src/receipts/index.ts'
import type { Given } from './given.ts'
import { type MeasuredLevel, toAdded } from './ladder/added.ts'
import { toLadderPorts } from './ladder/measuring.ts'
import { parseLadderOptions } from './ladder/options.ts'
import { toBenchTable } from './ladder/tables.ts'
import type { BenchTable } from './table.ts'

/** Those of a level, and of what a pool or a fork makes meanwhile. */
const TIMELINES = 5_000

const NOTE =
  'Limits on calls are raised so that no create waits for them (default 600 a minute); one sandbox before the first of each, not counted.'

/**
 * `troupe ladder --emulator` with one client more, which works as the published one did; each level is laid beside the published medians and beside the
 * time that the emulator itself took. What is done is told on stderr as it goes on; Ctrl-C ends it in order, and shows what was done until then.
 */
export async function ladderBench({ signal = new AbortController().signal, ...given }: Given): Promise<BenchTable> {
  const options = parseLadderOptions(given)
  const { levels: widths, repetitions, strategies, seed, transport } = options
  const say = (line: string) => void process.stderr.write(`${line}\n`)
  const ports = await toLadderPorts(options, { signal, say })
  const levels: MeasuredLevel[] = []
  const { problems } = await runLadder(
    { widths, repetitions, strategies, work: 'infra' },
    ports,
    async (level, { place }) => {
      const timelines = place === undefined ? [] : await readTimelines(place, TIMELINES)
      levels.push({ ...level, added: toAdded(level.samples, timelines) })
    },
  )
  const whole = signal.aborted ? ['interrupted: only the levels that were done', ...problems] : problems
  const about = {
    command: `npm run bench -- ladder --levels ${widths} --repetitions ${repetitions} --strategies ${strategies} --transport ${transport} --seed ${seed}`,
    seed: String(seed),
    provider:
      'emulated Daytona at speed 1, a fresh emulator for each strategy and level, in a process of its own on the same machine',
  }
  const receipt = toLadderReceipt(levels, about, whole)
  if (options.out !== undefined) await writeReceipt(options.out, receipt)
  const table =
    levels.length === 0
      ? []
      : [renderLadder(toLadderRows(receipt, 'ladder'), toLadderRows(PUBLISHED_LADDER_RECEIPT, 'published'))]
  return {
    ...toBenchTable(levels, 'ladder against the emulator'),
    notes: [...table, NOTE, ...whole].join('\n'),
    ...(whole.length === 0 ? {} : { incomplete: whole[0] }),
  }
}
