import Table from 'cli-table3'

/** Numbers stand on the right; the columns in `left`, by default the first, on the left. No colours of its own. */
export function renderTable(
  head: readonly string[],
  rows: readonly (readonly (string | number)[])[],
  { left = [0] }: { readonly left?: readonly number[] } = {},
): string {
  const table = new Table({
    head: [...head],
    style: { head: [], border: [], compact: true },
    colAligns: head.map((_, column) => (left.includes(column) ? 'left' : 'right')),
  })
  for (const row of rows) table.push([...row])
  return table.toString()
}
