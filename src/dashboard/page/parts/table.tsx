import type { ComponentChild } from 'preact'
import { useState } from 'preact/hooks'
import { count } from '../words.ts'

export interface Column {
  readonly name: string
  readonly kind?: 'number' | 'wide'
}

export interface Row {
  readonly key: string
  readonly cells: readonly ComponentChild[]
}

interface TableProps {
  readonly caption: string
  readonly columns: readonly Column[]
  readonly rows: readonly Row[]
  /** How many are shown unasked. */
  readonly first?: number
}

/** More rows are more than a page should hold. */
const MOST_ROWS = 1_000

/** A table whose first cells name their rows. Long ones show their first rows, and the rest when asked. */
export function DataTable({ caption, columns, rows, first = 50 }: TableProps) {
  const [isWhole, setWhole] = useState(false)
  const shown = rows.slice(0, isWhole ? MOST_ROWS : first)
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys. */}
      <section class="scroll" tabIndex={0} aria-label={caption}>
        <table>
          <caption>{caption}</caption>
          <thead>
            <tr>
              {columns.map(({ name, kind }) => (
                <th key={name} scope="col" class={kind}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map(({ key, cells: [head, ...cells] }) => (
              <tr key={key}>
                <th scope="row" class={columns[0]?.kind}>
                  {head}
                </th>
                {cells.map((cell, index) => (
                  <td key={columns[index + 1]?.name} class={columns[index + 1]?.kind}>
                    {cell}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {rows.length > shown.length && (
        <button type="button" class="more" onClick={() => setWhole(true)} disabled={isWhole}>
          {isWhole
            ? `The first ${count(MOST_ROWS)} of ${count(rows.length)} rows`
            : `Show all ${count(Math.min(rows.length, MOST_ROWS))} rows`}
        </button>
      )}
    </>
  )
}
