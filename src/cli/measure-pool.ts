/** What `troupe warmpool` and `troupe fork-bench` do alike: measure, keep what is done, print it and draw it. */
import { join } from 'node:path'
import { checkDescriptors } from '../ladder/limits.ts'
import type { LadderPorts } from '../ladder/ports.ts'
import { readReceiptFile, writeReceipt, writeWhole } from '../receipts/index.ts'
import type { Runtime } from '../runtimes/runtime.ts'
import {
  fromPoolReceipt,
  type OnLevel,
  type PoolMeasurement,
  type PoolReceiptKind,
  type PoolRun,
  renderPoolReport,
  reportOf,
  toPoolReceipt,
} from '../warmpool/index.ts'
import type { Cli } from './cli.ts'
import { closing } from './closing.ts'
import { EXIT } from './exit-codes.ts'
import { armInterrupt } from './interrupt.ts'
import { type Measuring, type MeasuringArguments, prepareMeasuring } from './ladder-ports.ts'
import { makeCounter } from './progress/counter.ts'
import { openTelling, type TellArguments, type Telling } from './telling.ts'

/** Options that both commands have. */
export interface PoolBenchArguments extends MeasuringArguments, TellArguments {
  readonly width: number
  readonly batches: number
  readonly repetitions: number
  readonly out: string
  readonly receipt?: string
}

export interface PoolBench {
  readonly kind: PoolReceiptKind
  /** Of the command line, what says what is measured. */
  readonly words: string
  /** That may exist at once. */
  readonly sandboxes: number
  readonly providerPool: boolean
  /** That are measured in one repetition. */
  readonly levels: number
  /** Throws where the runtime cannot do it. */
  check(runtime: Runtime): void
  run(ports: LadderPorts, onLevel: OnLevel): Promise<PoolRun>
}

/** Throws what is wrong with the input, before anything is made; the exit status tells how it went. */
export async function measurePool(
  bench: PoolBench,
  tasks: string | undefined,
  options: PoolBenchArguments,
  outer: Cli,
): Promise<void> {
  await using opened = closing(openTelling(options, outer))
  const telling = opened.value
  const { cli } = telling
  const measuring = await prepareMeasuring(tasks, options, { work: 'infra', group: 1, agentConfig: {} }, cli.console)
  if (measuring.runtime !== undefined) {
    await using runtime = closing(measuring.runtime)
    bench.check(runtime.value)
    checkDescriptors([bench.sandboxes], measuring.runtimeName)
    await runtime.value.preflight({ sandboxes: bench.sandboxes, providerPool: bench.providerPool })
  } else checkDescriptors([bench.sandboxes], measuring.runtimeName)
  const { kind, words } = bench
  const command = [`troupe ${kind}`, ...(tasks === undefined ? [] : [tasks]), words, ...measuring.words].join(' ')
  await measure(bench, measuring, { command, ...measuring.about }, options, telling)
}

async function measure(
  { kind, run, levels }: PoolBench,
  measuring: Measuring,
  about: Readonly<Record<string, string>>,
  { out, repetitions }: PoolBenchArguments,
  telling: Telling,
): Promise<void> {
  const { cli } = telling
  const { console, clock } = cli
  const path = join(out, `${kind}.csv`)
  const interrupt = armInterrupt({
    onFirst: () =>
      console.need('\nending in order, and keeping the levels that are done; press Ctrl-C again to end at once'),
    onSecond: () => process.exit(EXIT.interrupted),
  })
  const keep = (soFar: PoolMeasurement, problems: readonly string[]) =>
    writeReceipt(path, toPoolReceipt(kind, soFar, about, toComplete(problems)))
  // Levels differ, repetitions do not: one of them tells how long the others take.
  const counter = makeCounter({ unit: 'levels', total: levels * repetitions, clock, tellsFrom: 1 / repetitions })
  const shown = telling.show(counter.view)
  try {
    await keep({ levels: [], moments: [] }, ['it was ended before its first level'])
    const ports = { ...measuring.ports, signal: interrupt.signal, say: (line: string) => console.talk(line) }
    const measured = await run(ports, soFar => {
      counter.done(describeLevels(soFar))
      const last = soFar.levels.at(-1)
      if (last !== undefined) telling.tell({ type: 'level-measured', ...last })
      return keep(soFar, [`it was ended after ${soFar.levels.length} levels`])
    })
    shown.stop()
    const problems = [...(interrupt.signal.aborted ? ['interrupted'] : []), ...measured.problems]
    await keep(measured, problems)
    for (const problem of problems) console.need(problem)
    if (measured.levels.length > 0) await presentPool(kind, path, out, telling, problems)
    else {
      await telling.finish({ problems, levels: [] }, () => '')
      console.need(`nothing was measured; ${path} says why`)
    }
    const isWhole = measured.levels.every(({ failed = 0, leaked = 0 }) => failed + leaked === 0)
    if (interrupt.signal.aborted) cli.exitWith(EXIT.interrupted)
    else if (problems.length > 0 || !isWhole) cli.exitWith(EXIT.failed)
  } finally {
    shown.stop()
    interrupt.disarm()
  }
}

function describeLevels({ levels }: PoolMeasurement): readonly string[] {
  const failed = levels.reduce((sum, level) => sum + (level.failed ?? 0), 0)
  const leaked = levels.reduce((sum, level) => sum + (level.leaked ?? 0), 0)
  return [`${failed} failed`, ...(leaked === 0 ? [] : [`${leaked} left behind`])]
}

/** Prints and draws what the receipt at `path` holds, and nothing that it does not. Rejects where that is none of this kind. */
export async function drawPool(
  kind: PoolReceiptKind,
  path: string,
  { out, ...options }: PoolBenchArguments,
  cli: Cli,
): Promise<void> {
  await using telling = closing(openTelling(options, cli))
  await presentPool(kind, path, out, telling.value, [])
}

async function presentPool(
  kind: PoolReceiptKind,
  path: string,
  out: string,
  telling: Telling,
  problems: readonly string[],
): Promise<void> {
  const receipt = await readReceiptFile(path)
  const measured = fromPoolReceipt(receipt, kind, path)
  await telling.finish({ problems, levels: measured.levels }, () => renderPoolReport(reportOf(kind, measured)))
  const { presentPoolReceipt } = await import('../warmpool/present.ts')
  const { svg, html } = presentPoolReceipt(receipt, kind, path)
  const [picture, page] = [join(out, `${kind}.svg`), join(out, `${kind}.html`)]
  await writeWhole(picture, svg)
  await writeWhole(page, html)
  const own = path === join(out, `${kind}.csv`) ? `${path}, ` : ''
  telling.cli.console.need(`written: ${own}${picture}, ${page}`)
}

const toComplete = (problems: readonly string[]): string =>
  problems.length === 0 ? 'true' : `false: ${problems.join('; ')}`
