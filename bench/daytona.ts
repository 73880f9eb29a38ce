import { loadavg } from 'node:os'
import { armInterrupt } from '../src/cli/interrupt.ts'
import { runLadder } from './daytona/ladder.ts'
import { type LadderArguments, parseLadderOptions } from './daytona/options.ts'
import { writeReceipt } from './daytona/receipt.ts'
import { formatLadder, toBenchTable } from './daytona/tables.ts'
import type { BenchTable } from './table.ts'

const INTERRUPTED = 130

/**
 * Concurrency ladders against the emulator at speed 1: a client that works as the published one did, then ours by each of its
 * strategies, each beside the published medians. What is done is told on stderr as it goes on; Ctrl-C ends it in order, and shows
 * what was done until then.
 */
export async function daytonaBench(given: LadderArguments): Promise<BenchTable> {
  const options = parseLadderOptions(given)
  const say = (line: string) => void process.stderr.write(`${line}\n`)
  const interrupt = armInterrupt({
    onFirst: () => say('ending; again to end at once'),
    onSecond: () => process.exit(INTERRUPTED),
  })
  const loadBefore = loadavg()[0] ?? 0
  try {
    const { levels, problems } = await runLadder(options, { signal: interrupt.signal, say })
    process.stdout.write(`${formatLadder(levels)}\n`)
    process.stdout.write(
      `Medians over repetitions; lease in ms, ready (asked until hello was answered) in s; client CPU of one sandbox, made ready and given back.
Emulator: speed 1, seed ${options.seed}, a fresh process for each mode and width; its limits on calls raised so that no create waits for them
(default 600 a minute); one sandbox before the first of each, not counted. Load of the machine before: ${loadBefore.toFixed(2)}.\n`,
    )
    for (const problem of problems) process.stdout.write(`${problem}\n`)
    if (problems.length > 0) process.exitCode = interrupt.signal.aborted ? INTERRUPTED : 1
    if (options.out !== undefined) writeReceipt(options.out, levels, options, problems.length === 0)
    return toBenchTable(levels, `daytona: ladder against the emulator${problems.length > 0 ? ', INCOMPLETE' : ''}`)
  } finally {
    interrupt.disarm()
  }
}
