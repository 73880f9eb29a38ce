import { Bench } from 'tinybench'

/** A piece of work to be timed: `run` does it `operations` times over. */
export interface Case {
  readonly name: string
  readonly operations: number
  run(): void | Promise<void>
}

/** One figure over all rounds, in the unit of its samples. */
export interface Figure {
  /** The median of the rounds. */
  readonly value: number
  /** How far the round that is farthest from the median lies from it. */
  readonly spread: number
  /** One a round, in their order. */
  readonly samples: readonly number[]
}

/**
 * Operations a second of each case by name, over `rounds` in which the cases take turns, so that a busy moment of the machine falls on all of
 * them alike. A round's sample is the median of three; one round more comes first and is not counted, in which code is compiled. After `signal`
 * aborts no further round begins.
 */
export async function measureRates(
  cases: readonly Case[],
  rounds: number,
  signal?: AbortSignal,
): Promise<(name: string) => Figure> {
  const samples = new Map<string, number[]>(cases.map(({ name }) => [name, []]))
  for (let round = 0; round <= rounds && signal?.aborted !== true; round += 1) {
    const bench = new Bench({ iterations: 3, time: 0, warmup: false })
    for (const { name, run } of cases) bench.add(name, async () => await run())
    await bench.run()
    for (const { name, operations } of cases) {
      const result = bench.getTask(name)?.result
      if (result === undefined || !('latency' in result)) throw failed(name, result)
      if (round > 0) samples.get(name)?.push((operations / result.latency.p50) * 1_000)
    }
  }
  return name => toFigure(samples.get(name) ?? [])
}

const SAMPLE_MS = 5

/** Synchronous work as a case that does it so often that a sample takes some milliseconds: less than that the clock and the collector decide. */
export function repeated(name: string, work: () => unknown, operationsEach = 1): Case {
  const runFor = (times: number) => {
    for (let time = 0; time < times; time += 1) work()
  }
  let times = 1
  // The least of three: one that the collector or another process held up would make samples too short.
  const leastMs = () => Math.min(...[1, 2, 3].map(() => timeMs(() => runFor(times))))
  while (leastMs() < SAMPLE_MS) times *= 2
  return { name, operations: times * operationsEach, run: () => runFor(times) }
}

/** The value is NaN where there are no samples. */
export function toFigure(samples: readonly number[]): Figure {
  const value = median(samples)
  return { value, spread: Math.max(0, ...samples.map(sample => Math.abs(sample - value))), samples }
}

/** The figure with every sample changed, for instance into another unit. */
export function mapFigure({ samples }: Figure, change: (sample: number) => number): Figure {
  return toFigure(samples.map(change))
}

/** Microseconds an operation, of operations a second. */
export const toMicros = (rate: Figure): Figure => mapFigure(rate, perSecond => 1e6 / perSecond)

/** A figure's part of a row. */
export const toCell = ({ value, spread }: Figure, unit: string) => ({ value, spread, unit })

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

function timeMs(work: () => void): number {
  const startedAt = performance.now()
  work()
  return performance.now() - startedAt
}

function failed(name: string, result: object | undefined): Error {
  const cause = result !== undefined && 'error' in result ? result.error : undefined
  return new Error(`${name} gave no result${cause instanceof Error ? `: ${cause.message}` : ''}`, { cause })
}
