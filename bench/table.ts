import Table from 'cli-table3'

/** One figure, beside the figure of the same run that it is compared with. */
export interface BenchRow {
  /** A name that begins with blanks belongs to the last one before it that does not. */
  readonly name: string
  readonly value: number
  readonly unit: string
  /** How far the round that is farthest from the value lies from it, in the unit. Absent where there was one round. */
  readonly spread?: number
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
  /** What is to be read with it; printed above the table where it is the only one, on stderr beside others. */
  readonly notes?: string
  /** Why it is not all that was to be measured. */
  readonly incomplete?: string
}

/** A benchmark's part of the one table. */
export interface TablePart extends BenchTable {
  readonly bench: string
  readonly tookMs: number
}

const HEAD = ['bench', 'name', 'value', 'unit', 'spread', 'against', 'ratio', 'aim', 'met'] as const

/** One table of them all, columns aligned, one line a row, each benchmark under a heading. */
export function formatTable(parts: readonly TablePart[]): string {
  const lines = new Table({
    head: [...HEAD],
    colAligns: ['left', 'left', 'right', 'left', 'right', 'left', 'right', 'left', 'left'],
    style: { head: [], border: [], compact: true },
  })
  for (const { bench, title, tookMs, incomplete, rows } of parts) {
    const what = incomplete === undefined ? title : `${title}; INCOMPLETE: ${incomplete}`
    lines.push([bench, { content: `${what} (${formatSeconds(tookMs)})`, colSpan: HEAD.length - 1 }])
    for (const { name, value, unit, spread, reference, ratio, aim, met } of rows)
      lines.push([
        '',
        name,
        formatNumber(value),
        unit,
        spread === undefined ? '' : formatSpread(spread, value),
        reference ?? '',
        ratio === undefined ? '' : `${formatNumber(ratio)} x`,
        aim ?? '',
        met === undefined ? '' : met ? 'yes' : 'NO',
      ])
  }
  return lines.toString()
}

/** Three significant digits, and no exponent. */
export function formatNumber(value: number): string {
  if (!Number.isFinite(value)) return String(value)
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en')
  return String(Number(value.toPrecision(3)))
}

export const formatSeconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`

const formatSpread = (spread: number, value: number): string => `± ${Math.round((spread / Math.abs(value)) * 100)} %`
