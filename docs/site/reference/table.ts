/** A table of Markdown. Cells hold Markdown of one line; bars in them are escaped. */
export function toTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = [head, head.map(() => '---'), ...rows.map(row => row.map(escapeCell))]
  return cells.map(row => `| ${row.join(' | ')} |`).join('\n')
}

function escapeCell(text: string): string {
  return text.replaceAll(/\s*\n\s*/g, ' ').replaceAll('|', '\\|')
}

/** As code, whatever stands in it. */
export function code(text: string): string {
  return text.includes('`') ? `\`\` ${text} \`\`` : `\`${text}\``
}

/** Text that Markdown would take for markup, as it is. */
export function plain(text: string): string {
  return text.replaceAll(/[<>*_[\]]/g, mark => `\\${mark}`)
}
