import Table from 'cli-table3'

/** One figure, beside the figure of the same run that it is compared with. */
export interface BenchRow {
  readonly name: string
  readonly value: number
  readonly unit: string
  /** What it is compared with, and its own figure. */
  readonly reference?: string
  /** Value against reference, as the row's aim states it. */
  readonly ratio?: number
  readonly aim?: string
  readonly met?: boolean
}

export interface BenchTable {
  readonly title: string
  readonly rows: readonly BenchRow[]
}

/** The table as text, columns aligned, one line a row. */
export function formatTable(table: BenchTable): string {
  const lines = new Table({
    head: ['', 'value', 'unit', 'against', 'ratio', 'aim', 'met'],
    colAligns: ['left', 'right', 'left', 'left', 'right', 'left', 'left'],
    style: { head: [], border: [], compact: true },
  })
  for (const { name, value, unit, reference, ratio, aim, met } of table.rows)
    lines.push([
      name,
      formatNumber(value),
      unit,
      reference ?? '',
      ratio === undefined ? '' : `${formatNumber(ratio)} x`,
      aim ?? '',
      met === undefined ? '' : met ? 'yes' : 'NO',
    ])
  return `${table.title}\n${lines.toString()}`
}

export function printTable(table: BenchTable): void {
  process.stdout.write(`${formatTable(table)}\n`)
}

/** Three significant digits, and no exponent. */
export function formatNumber(value: number): string {
  if (!Number.isFinite(value)) return String(value)
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en')
  return String(Number(value.toPrecision(3)))
}
