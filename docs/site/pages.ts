/** Which pages there are, and in which order they are read: docs/README.md says so. */
import { readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { makeParser, type Page, readPage } from './page.ts'

/** The page that lists all others. */
export const INDEX = 'docs/README.md'
const ENTRY = 'README.md'

/** A heading of the index, with the pages that it lists. */
export interface Chapter {
  readonly title: string
  readonly pages: readonly string[]
}

/** Paths of README.md and of all Markdown under docs, sorted. */
export function findPages(repository: string): readonly string[] {
  const inDocs = readdirSync(posix.join(repository, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.md'))
    .map(name => posix.join('docs', name))
  return [ENTRY, ...inDocs].sort()
}

export function loadPage(repository: string, path: string): Page {
  return readPage(path, readFileSync(posix.join(repository, path), 'utf8'))
}

/** The chapters of the index, in its order; a page counts where it is named first. */
export function readChapters(repository: string): readonly Chapter[] {
  const tokens = makeParser().parse(readFileSync(posix.join(repository, INDEX), 'utf8'), {})
  const chapters: { title: string; pages: string[] }[] = []
  const seen = new Set<string>([INDEX])
  tokens.forEach((token, at) => {
    if (token.type === 'heading_open' && token.tag === 'h2')
      chapters.push({ title: tokens[at + 1]?.content ?? '', pages: [] })
    for (const child of token.children ?? []) {
      const path = toPage(child.attrGet('href'))
      if (path === undefined || seen.has(path)) continue
      seen.add(path)
      chapters.at(-1)?.pages.push(path)
    }
  })
  return chapters
}

function toPage(href: string | null): string | undefined {
  if (href === null || /^[a-z]+:|^#/.test(href)) return undefined
  const path = posix.join(posix.dirname(INDEX), href.replace(/#.*/, ''))
  return path.endsWith('.md') ? path : undefined
}
