/** A page's Markdown as HTML: headings with anchors, links within the site, highlighted code. */
import { createRequire } from 'node:module'
import { makeParser, readHeadings } from './page.ts'
import { between, resolveLink, routeOf } from './route.ts'

/** Not imported: its types bring those of browsers with them, to every file of the repository. */
const hljs: { highlight(text: string, options: { readonly language: string }): { readonly value: string } } =
  createRequire(import.meta.url)('highlight.js/lib/common')
const NAMES: Readonly<Record<string, string>> = {
  sh: 'bash',
  console: 'bash',
  ts: 'typescript',
  js: 'javascript',
  mjs: 'javascript',
  json: 'json',
  jsonl: 'json',
  py: 'python',
  python: 'python',
  yaml: 'yaml',
  yml: 'yaml',
}

export interface Rendered {
  readonly html: string
  /** Files of the repository that it points at. */
  readonly linked: readonly string[]
}

export function renderPage(path: string, markdown: string): Rendered {
  const linked = new Set<string>()
  const parser = makeParser()
  const tokens = parser.parse(markdown, {})
  const headings = readHeadings(tokens)
  let at = 0
  for (const token of tokens) {
    if (token.type === 'heading_open') token.attrSet('id', headings[at++]?.anchor ?? '')
    for (const child of token.children ?? [])
      for (const name of ['href', 'src']) {
        const found = resolveLink(path, child.attrGet(name) ?? 'https:')
        if (found === undefined) continue
        linked.add(found.path)
        child.attrSet(name, `${between(routeOf(path), routeOf(found.path))}${found.anchor}`)
      }
  }
  parser.options.highlight = highlight
  // Notes for the tests are no text.
  parser.renderer.rules.html_block = (list, index) => (list[index]?.content ?? '').replaceAll(/<!--[\s\S]*?-->/g, '')
  parser.renderer.rules.table_open = () => '<div class="table"><table>\n'
  parser.renderer.rules.table_close = () => '</table></div>\n'
  return { html: parser.renderer.render(tokens, parser.options, {}), linked: [...linked] }
}

/** A source file as it is. */
export function renderSource(text: string, language: string): string {
  return `<pre><code>${highlight(text, language)}</code></pre>`
}

function highlight(text: string, language: string): string {
  const name = NAMES[language]
  return name === undefined ? escapeHtml(text) : hljs.highlight(text, { language: name }).value
}

export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}
