import type { Given } from './given.ts'
import { farRows } from './kernel/far.ts'
import { nearRows } from './kernel/near.ts'
import type { BenchTable } from './table.ts'

/** Tell and ask, in one thread and between two, each beside its reference of the same run. `quick` takes a third of the time. */
export async function kernelBench(given: Given): Promise<BenchTable> {
  const rows = [...(await nearRows(given)), ...(await farRows(given))]
  return { title: 'actors, in one thread and between two', rows }
}
