import type { PoolReport } from './render-warmpool.ts'

/** One file that needs nothing else: the words, the picture, the tables, and what one needs to make the same again. */
export function toPoolPage(report: PoolReport, svg: string, about: Readonly<Record<string, string>>): string {
  const { title, words, tables } = report
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${toHtml(title)}</title>
<style>${STYLE}</style>
<main>
<h1>${toHtml(title)}</h1>
${words.map(sentence => `<p>${toHtml(sentence)}</p>`).join('\n')}
<figure>${svg.trim()}</figure>
${tables.map(({ title: name, head, rows }) => `<h2>${toHtml(name)}</h2>\n${toTable(head, rows)}`).join('\n')}
<h2>How this was made</h2>
<dl>${Object.entries(about)
    .map(([key, value]) => `<dt>${toHtml(key)}</dt><dd>${toHtml(value)}</dd>`)
    .join('\n')}</dl>
</main>
</html>
`
}

function toTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[], tag: 'th' | 'td') =>
    `<tr>${cells.map(cell => `<${tag}>${toHtml(cell)}</${tag}>`).join('')}</tr>`
  return `<div class="wide"><table>\n${line(head, 'th')}\n${rows.map(row => line(row, 'td')).join('\n')}\n</table></div>`
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
const toHtml = (text: string): string => text.replaceAll(/[&<>"]/g, found => ENTITIES[found] ?? found)

const STYLE = `
body { margin: 0; background: #f5f7f9; color: #1f2933; font: 16px/1.5 system-ui, Helvetica, Arial, sans-serif }
main { max-width: 1010px; margin: 0 auto; padding: 32px 24px 64px }
h1 { font-size: 26px; line-height: 1.25 } h2 { font-size: 18px; margin-top: 36px }
p { max-width: 74ch } figure { margin: 24px 0; padding: 8px; background: #fff; border: 1px solid #dde3e9; border-radius: 8px }
svg { display: block; width: 100%; height: auto }
.wide { overflow-x: auto } table { border-collapse: collapse; background: #fff; font-variant-numeric: tabular-nums }
th, td { padding: 5px 14px; border: 1px solid #dde3e9; text-align: right; white-space: nowrap }
th:first-child, td:first-child { text-align: left } th { background: #eef2f5; font-weight: 600 }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 4px 18px; font-size: 14px }
dt { color: #5f6b7a } dd { margin: 0; overflow-wrap: anywhere }
`
