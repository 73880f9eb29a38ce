import type { ErrorData } from '../../src/errors.ts'
import type { Level, Sample } from './level.ts'
import { type Percentiles, toPercentiles } from './percentiles.ts'

/** One level's samples in figures. Milliseconds. */
export interface LevelSummary {
  readonly usable: Percentiles
  /** From asking to the lease alone; absent in the published client, which leases nothing. */
  readonly lease: Percentiles | undefined
  /** From the stage before to the answer to `hello`. */
  readonly hello: Percentiles | undefined
  /** What the client added to what the emulator alone took; absent where sandboxes were ready before they were asked for. */
  readonly added: Percentiles | undefined
  readonly creates: number
}

export function summarise(level: Level): LevelSummary {
  const { samples, added, pool, failures } = level
  return {
    usable: toPercentiles(samples.map(({ usableMs }) => usableMs)),
    lease: some(samples.flatMap(({ stages }) => stages.lease ?? [])),
    hello: some(samples.flatMap(lastStageMs)),
    added: some(added.map(({ totalMs }) => totalMs)),
    creates: pool?.created ?? samples.length + failures.length,
  }
}

export function countByTag(failures: readonly ErrorData[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const failure of failures) {
    // What the pool says is why it refused; what lies beneath is why the create failed.
    const tags = [failure, ...causesOf(failure)].map(({ tag }) => tag)
    const tag = tags.join('<')
    counts.set(tag, (counts.get(tag) ?? 0) + 1)
  }
  return counts
}

function causesOf({ cause }: ErrorData): readonly ErrorData[] {
  return cause === undefined ? [] : [cause, ...causesOf(cause)]
}

function lastStageMs({ stages }: Sample): number[] {
  const ends = Object.values(stages)
  const last = ends.at(-1)
  return last === undefined ? [] : [last - (ends.at(-2) ?? 0)]
}

function some(values: readonly number[]): Percentiles | undefined {
  return values.length === 0 ? undefined : toPercentiles(values)
}
