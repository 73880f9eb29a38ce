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

/** Options that both commands have. */
export interface PoolBenchArguments extends MeasuringArguments {
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
  /** Throws where the runtime cannot do it. */
  check(runtime: Runtime): void
  run(ports: LadderPorts, onLevel: OnLevel): Promise<PoolRun>
}

/** Throws what is wrong with the input, before anything is made; the exit status tells how it went. */
export async function measurePool(
  bench: PoolBench,
  tasks: string | undefined,
  options: PoolBenchArguments,
  cli: Cli,
): Promise<void> {
  const measuring = await prepareMeasuring(tasks, options, { work: 'infra', group: 1, agentConfig: {} }, cli.console)
  if (measuring.runtime !== undefined) {
    await using runtime = closing(measuring.runtime)
    bench.check(runtime.value)
    checkDescriptors([bench.sandboxes], measuring.runtimeName)
    await runtime.value.preflight({ sandboxes: bench.sandboxes, providerPool: bench.providerPool })
  } else checkDescriptors([bench.sandboxes], measuring.runtimeName)
  const { kind, words } = bench
  const command = [`troupe ${kind}`, ...(tasks === undefined ? [] : [tasks]), words, ...measuring.words].join(' ')
  await measure(bench, measuring, { command, ...measuring.about }, options, cli)
}

async function measure(
  { kind, run }: PoolBench,
  measuring: Measuring,
  about: Readonly<Record<string, string>>,
  { out }: PoolBenchArguments,
  cli: Cli,
): Promise<void> {
  const { console } = cli
  const path = join(out, `${kind}.csv`)
  const interrupt = armInterrupt({
    onFirst: () =>
      console.talk('\nending in order, and keeping the levels that are done; press Ctrl-C again to end at once'),
    onSecond: () => process.exit(EXIT.interrupted),
  })
  const keep = (soFar: PoolMeasurement, problems: readonly string[]) =>
    writeReceipt(path, toPoolReceipt(kind, soFar, about, toComplete(problems)))
  try {
    await keep({ levels: [], moments: [] }, ['it was ended before its first level'])
    const ports = { ...measuring.ports, signal: interrupt.signal, say: (line: string) => console.talk(line) }
    const measured = await run(ports, soFar => keep(soFar, [`it was ended after ${soFar.levels.length} levels`]))
    const problems = [...(interrupt.signal.aborted ? ['interrupted'] : []), ...measured.problems]
    await keep(measured, problems)
    for (const problem of problems) console.talk(problem)
    if (measured.levels.length > 0) await drawPool(kind, path, out, cli)
    else console.talk(`nothing was measured; ${path} says why`)
    const isWhole = measured.levels.every(({ failed = 0, leaked = 0 }) => failed + leaked === 0)
    if (interrupt.signal.aborted) cli.exitWith(EXIT.interrupted)
    else if (problems.length > 0 || !isWhole) cli.exitWith(EXIT.failed)
  } finally {
    interrupt.disarm()
  }
}

/** Prints and draws what the receipt at `path` holds, and nothing that it does not. Rejects where that is none of this kind. */
export async function drawPool(kind: PoolReceiptKind, path: string, out: string, { console }: Cli): Promise<void> {
  const receipt = await readReceiptFile(path)
  const measured = fromPoolReceipt(receipt, kind, path)
  await console.print(renderPoolReport(reportOf(kind, measured)))
  const { presentPoolReceipt } = await import('../warmpool/present.ts')
  const { svg, html } = presentPoolReceipt(receipt, kind, path)
  const [picture, page] = [join(out, `${kind}.svg`), join(out, `${kind}.html`)]
  await writeWhole(picture, svg)
  await writeWhole(page, html)
  const own = path === join(out, `${kind}.csv`) ? `${path}, ` : ''
  console.talk(`written: ${own}${picture}, ${page}`)
}

const toComplete = (problems: readonly string[]): string =>
  problems.length === 0 ? 'true' : `false: ${problems.join('; ')}`
