import { renderTable } from '../report/table.ts'
import type { PoolMeasurement } from './columns.ts'
import type { PoolReceiptKind } from './receipt.ts'
import { reportForkBench } from './render-fork-bench.ts'
import { type PoolReport, reportWarmpool } from './render-warmpool.ts'

/** What a measurement says, by the command that made it. */
export const reportOf = (kind: PoolReceiptKind, measured: PoolMeasurement): PoolReport =>
  kind === 'warmpool' ? reportWarmpool(measured) : reportForkBench(measured)

/** A report for a terminal. */
export function renderPoolReport({ words, tables }: PoolReport): string {
  return [...words, ...tables.flatMap(({ title, head, rows }) => ['', title, renderTable(head, rows)])].join('\n')
}
