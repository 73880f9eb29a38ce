import { type Clock, sleep } from '../src/clock.ts'
import { toErrorData } from '../src/errors.ts'
import type { BenchEntry } from './catalog.ts'
import type { LadderArguments } from './ladder/options.ts'
import { type BenchTable, formatSeconds, type TablePart } from './table.ts'

/** A benchmark that is ready to be run. */
export interface Runnable {
  readonly name: string
  run(signal: AbortSignal): Promise<BenchTable>
}

export interface RunPorts {
  /** Aborts at Ctrl-C. */
  readonly signal: AbortSignal
  readonly clock: Clock
  say(line: string): void
  /** Given all that have ended, after each. */
  onEnd(parts: readonly TablePart[]): Promise<void>
}

/** How long a benchmark has to end in order after Ctrl-C. */
export const GRACE_MS = 30_000

const INTERRUPTED = 'interrupted'

/**
 * One benchmark after the other. One that throws is told of and marked, and the others still run. After Ctrl-C none begins; the one under way is
 * waited for a while, and keeps what it had measured, if it returns that.
 */
export async function runBenches(benches: readonly Runnable[], ports: RunPorts): Promise<readonly TablePart[]> {
  const { signal, clock, say, onEnd } = ports
  const parts: TablePart[] = []
  for (const bench of benches) {
    if (signal.aborted) break
    say(`${bench.name} …`)
    const startedAt = clock.now()
    const table = await runOne(bench, ports)
    const tookMs = clock.now() - startedAt
    parts.push({ ...table, bench: bench.name, tookMs })
    say(`${bench.name}: ${table.incomplete ?? 'done'} (${formatSeconds(tookMs)})`)
    await onEnd(parts)
  }
  return parts
}

/** The benchmark's file is loaded when its turn comes, and the garbage of the one before it collected first, where that is possible. */
export function toRunnable({ name, load }: BenchEntry, given: LadderArguments): Runnable {
  return {
    name,
    async run(signal) {
      const bench = await load()
      globalThis.gc?.()
      return bench({ ...given, signal })
    },
  }
}

async function runOne(bench: Runnable, ports: RunPorts): Promise<BenchTable> {
  const { signal } = ports
  const ended = new AbortController()
  try {
    const table = await Promise.race([bench.run(signal), giveUp(ports, ended.signal)])
    if (!signal.aborted) return table
    // A figure that was not taken yet has no value.
    return { ...table, rows: table.rows.filter(({ value }) => !Number.isNaN(value)), incomplete: INTERRUPTED }
  } catch (error) {
    const incomplete = signal.aborted ? INTERRUPTED : `failed: ${toErrorData(error).message.split('\n')[0]}`
    return { title: 'nothing was measured', rows: [], incomplete }
  } finally {
    ended.abort()
  }
}

/** Rejects when the benchmark has not ended in time after Ctrl-C. */
async function giveUp({ signal, clock }: RunPorts, ended: AbortSignal): Promise<never> {
  await new Promise<void>(resolve => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true, signal: ended })
  })
  // Rejects at the end of the benchmark, which has been heard by then.
  await sleep(clock, GRACE_MS, ended)
  throw new Error('the benchmark did not end in time')
}
