import type { Receipt } from '../src/receipts/receipt.ts'
import type { BenchRow, TablePart } from './table.ts'

const COLUMNS = ['bench', 'name', 'value', 'unit', 'spread', 'against', 'ratio', 'aim', 'met'] as const

/** What a receipt says beside its rows. */
export interface ReceiptWords {
  readonly command: string
  /** When it was made, versions, machine, load. */
  readonly machine: Readonly<Record<string, string>>
  /** The benchmarks that were to be run. */
  readonly planned: readonly string[]
  readonly quick: boolean
  readonly tookMs: number
}

/** Numbers are as they were measured, not rounded; `spread` is in the row's unit. A benchmark without figures has a row that says why. */
export function toReceipt(parts: readonly TablePart[], words: ReceiptWords): Receipt {
  const { command, machine, planned, quick, tookMs } = words
  return {
    kind: 'bench',
    about: {
      made: machine.made ?? '',
      command,
      complete: completeText(parts, planned),
      ...machine,
      benches: planned.join(' '),
      quick: String(quick),
      took: `${(tookMs / 1_000).toFixed(1)} s`,
    },
    columns: COLUMNS,
    rows: parts.flatMap(part =>
      part.rows.length === 0
        ? [{ bench: part.bench, name: part.incomplete ?? 'nothing to measure' }]
        : fullNames(part.rows).map(row => ({ bench: part.bench, ...toCells(row) })),
    ),
  }
}

/** `true`, or `false: why`, on one line. */
export function completeText(parts: readonly TablePart[], planned: readonly string[]): string {
  const missing = planned.filter(name => !parts.some(({ bench }) => bench === name))
  const reasons = [
    ...parts.flatMap(({ bench, incomplete }) => (incomplete === undefined ? [] : [`${bench} ${incomplete}`])),
    ...(missing.length === 0 ? [] : [`not begun: ${missing.join(', ')}`]),
  ]
  return reasons.length === 0 ? 'true' : `false: ${reasons.join('; ').replaceAll(/\s+/g, ' ')}`
}

/** Each row's name after those of the rows it belongs to, by how far it is indented, so that it can stand alone. */
function fullNames(rows: readonly BenchRow[]): readonly BenchRow[] {
  let owners: readonly { readonly indent: number; readonly name: string }[] = []
  return rows.map(row => {
    const name = row.name.trim()
    const indent = row.name.length - row.name.trimStart().length
    owners = [...owners.filter(owner => owner.indent < indent), { indent, name }]
    return { ...row, name: owners.map(owner => owner.name).join(': ') }
  })
}

function toCells({ name, value, unit, spread, reference, ratio, aim, met }: BenchRow): Record<string, string> {
  return {
    name,
    value: numberText(value),
    unit,
    spread: numberText(spread),
    against: reference ?? '',
    ratio: numberText(ratio),
    aim: aim ?? '',
    met: met === undefined ? '' : String(met),
  }
}

const numberText = (value: number | undefined): string =>
  value === undefined || Number.isNaN(value) ? '' : String(value)
