/**
 * `npm run bench -- [name…] [--quick] [--out FILE]`: the benchmarks one after the other, one table of all, and a receipt of it. Without a name the
 * set that `--help` names. When a benchmark fails, it is marked and the exit code is 1; after Ctrl-C it is 130, and what is done is kept.
 */
import { armInterrupt } from '../src/cli/interrupt.ts'
import { systemClock } from '../src/clock.ts'
import { hasTag } from '../src/errors.ts'
import { aboutMachine, writeReceipt } from '../src/receipts/index.ts'
import { type BenchPlan, formatHelp, parseBenchArguments } from './options.ts'
import { completeText, toReceipt } from './receipt.ts'
import { runBenches, toRunnable } from './run.ts'
import { formatSeconds, formatTable, type TablePart } from './table.ts'

const EXIT = { failed: 1, badInput: 2, interrupted: 130 } as const

const say = (line: string) => void process.stderr.write(`${line}\n`)

try {
  const plan = await parseBenchArguments(process.argv.slice(2))
  if (plan === 'help') process.stdout.write(formatHelp())
  else await run(plan)
} catch (error) {
  if (!hasTag(error, 'bench-option') && !hasTag(error, 'receipt-not-written')) throw error
  say(error.message)
  process.exitCode = EXIT.badInput
}

async function run({ entries, quick, out }: BenchPlan): Promise<void> {
  const startedAt = systemClock.now()
  const planned = entries.map(({ entry }) => entry.name)
  const words = {
    command: ['npm run bench --', ...process.argv.slice(2)].join(' '),
    machine: aboutMachine(),
    planned,
    quick,
  }
  const keep = async (parts: readonly TablePart[]) => {
    const tookMs = systemClock.now() - startedAt
    if (out !== undefined) await writeReceipt(out, toReceipt(parts, { ...words, tookMs }))
  }
  // A place that cannot be written to is told before anything has been measured.
  await keep([])
  const interrupt = armInterrupt({
    onFirst: () => say('ending; again to end at once'),
    // What is done was written as it was done.
    onSecond: () => process.exit(EXIT.interrupted),
  })
  const { signal } = interrupt
  const benches = entries.map(({ entry, given }) => toRunnable(entry, given))
  const parts = await runBenches(benches, { signal, clock: systemClock, say, onEnd: keep })
  interrupt.disarm()
  for (const { notes } of parts)
    if (notes !== undefined) (planned.length === 1 ? process.stdout : process.stderr).write(`${notes}\n`)
  process.stdout.write(`${formatTable(parts)}\n`)
  const complete = completeText(parts, planned)
  const took = formatSeconds(systemClock.now() - startedAt)
  say(
    `${planned.length === 1 ? 'One benchmark' : `${planned.length} benchmarks`} in ${took}${out === undefined ? '' : `; receipt: ${out}`}`,
  )
  if (complete !== 'true') say(complete)
  // One that did not end in time may hold the process open.
  if (signal.aborted) process.exit(EXIT.interrupted)
  if (complete !== 'true') process.exitCode = EXIT.failed
}
