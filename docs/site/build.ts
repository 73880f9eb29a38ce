/** The static site: every page that docs/README.md lists, what those point at, and the search index. The API reference is typedoc's. */
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, extname, join } from 'node:path'
import { type Page, readPage } from './page.ts'
import { INDEX, readChapters } from './pages.ts'
import { renderPage, renderSource } from './render.ts'
import { isSource, routeOf } from './route.ts'
import { findSections, makeIndexScript, type Section } from './search-index.ts'
import { makeHtml, type NavChapter } from './template.ts'

export const API = 'api/index.html'
const ASSETS = ['style.css', 'client.js']

export interface Built {
  /** Pages that were written, the API reference not counted. */
  readonly pages: number
  readonly files: number
}

/** Writes all but the API reference into `out`, which is emptied first. */
export function buildSite(repository: string, out: string): Built {
  rmSync(out, { recursive: true, force: true })
  const read = (path: string) => readFileSync(join(repository, path), 'utf8')
  const write = (route: string, text: string) => {
    mkdirSync(dirname(join(out, route)), { recursive: true })
    writeFileSync(join(out, route), text)
  }
  const chapters = makeNavigation(repository, path => readPage(path, read(path)))
  const sections: Section[] = []
  const wanted = new Set(['README.md', INDEX, ...readChapters(repository).flatMap(({ pages }) => pages)])
  let pages = 0
  // What a page points at is added while they are gone through.
  for (const path of wanted) {
    const route = routeOf(path)
    if (path.endsWith('.md')) {
      const markdown = read(path)
      const { headings, title } = readPage(path, markdown)
      const { html, linked } = renderPage(path, markdown)
      for (const each of linked) wanted.add(each)
      sections.push(...findSections(route, title, markdown))
      write(route, makeHtml({ chapters, headings, html, route, title }))
      pages += 1
    } else if (isSource(path) || extname(path) === '') {
      const html = `<h1>${path}</h1>\n${showFile(repository, path)}`
      write(route, makeHtml({ chapters, headings: [], html, route, title: path }))
      pages += 1
    } else {
      mkdirSync(dirname(join(out, route)), { recursive: true })
      copyFileSync(join(repository, path), join(out, route))
    }
  }
  for (const name of ASSETS) write(`assets/${name}`, read(`docs/site/${name}`))
  // For scripts in pages; the package exports it to nobody.
  copyFileSync(join(repository, 'node_modules/minisearch/dist/umd/index.js'), join(out, 'assets/minisearch.js'))
  write('assets/search-index.js', makeIndexScript(sections))
  return { pages, files: wanted.size - pages }
}

/** The text of a source; the names in a folder. */
function showFile(repository: string, path: string): string {
  const file = join(repository, path)
  if (!statSync(file).isDirectory()) return renderSource(readFileSync(file, 'utf8'), extname(path).slice(1))
  const items = readdirSync(file).map(name => `<li><code>${name}</code></li>`)
  return `<ul>${items.join('')}</ul>`
}

function makeNavigation(repository: string, load: (path: string) => Page): readonly NavChapter[] {
  const listed = readChapters(repository).map(({ pages, title }) => ({
    title,
    entries: pages.map(path => ({ title: load(path).title, route: routeOf(path) })),
  }))
  const first = {
    title: 'Troupe',
    entries: [
      { title: 'What it is', route: 'index.html' },
      { title: 'All pages', route: routeOf(INDEX) },
    ],
  }
  const last = listed.at(-1) ?? { title: 'Reference', entries: [] }
  return [
    first,
    ...listed.slice(0, -1),
    { ...last, entries: [...last.entries, { title: 'API reference', route: API }] },
  ]
}
