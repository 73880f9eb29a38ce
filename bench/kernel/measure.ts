import { Bench } from 'tinybench'

/** A piece of work to be timed: `run` does it `operations` times over. */
export interface Case {
  readonly name: string
  readonly operations: number
  run(): void | Promise<void>
}

/**
 * Operations a second of each case: the median of `rounds`, in which the cases take turns, so that a busy moment of the
 * machine falls on all of them alike. After `signal` aborts no further round begins.
 */
export async function measure(
  cases: readonly Case[],
  rounds: number,
  signal?: AbortSignal,
): Promise<Map<string, number>> {
  const samples = new Map<string, number[]>(cases.map(({ name }) => [name, []]))
  for (let round = 0; round < rounds && signal?.aborted !== true; round += 1) {
    const bench = new Bench({ iterations: 3, time: 0, warmup: round === 0, warmupIterations: 2, warmupTime: 0 })
    for (const { name, run } of cases) bench.add(name, async () => await run())
    await bench.run()
    for (const { name, operations } of cases) {
      const result = bench.getTask(name)?.result
      if (result === undefined || !('latency' in result)) throw new Error(`${name} gave no result`)
      samples.get(name)?.push((operations / result.latency.p50) * 1_000)
    }
  }
  return new Map([...samples].map(([name, values]) => [name, median(values)]))
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((left, right) => left - right)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

const IN_FLIGHT = 1_000

/** Asks `questions` times, a thousand at a time: each loop asks again as soon as it has its answer. */
export async function inFlight(questions: number, ask: (index: number) => Promise<unknown>): Promise<void> {
  const loops = Array.from({ length: IN_FLIGHT }, async () => {
    for (let index = 0; index < questions / IN_FLIGHT; index += 1) await ask(index)
  })
  await Promise.all(loops)
}
