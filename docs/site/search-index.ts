/** What the search finds: each section of each page, with its text. */
import MiniSearch, { type Options } from 'minisearch'
import { makeParser, readHeadings } from './page.ts'

export interface Section {
  readonly id: string
  readonly page: string
  readonly heading: string
  readonly text: string
}

/** What the page that searches has to know of it, too; `client.js` has it from the script that holds the index. */
export const OPTIONS: Options<Section> = {
  fields: ['heading', 'page', 'text'],
  storeFields: ['page', 'heading'],
  searchOptions: { prefix: true, fuzzy: 0.15, combineWith: 'AND', boost: { heading: 4, page: 2 } },
}

export function findSections(route: string, title: string, markdown: string): readonly Section[] {
  const tokens = makeParser().parse(markdown, {})
  const headings = readHeadings(tokens)
  const sections: { id: string; page: string; heading: string; text: string }[] = []
  let at = -1
  let isHeading = false
  for (const { children, content, type } of tokens) {
    if (type === 'heading_open') {
      at += 1
      isHeading = true
      const { anchor = '', text = '' } = headings[at] ?? {}
      sections.push({ id: at === 0 ? route : `${route}#${anchor}`, page: title, heading: text, text: '' })
      continue
    }
    const last = sections.at(-1)
    if (last !== undefined && !isHeading) {
      if (type === 'fence') last.text += ` ${content}`
      for (const child of children ?? []) if (child.type !== 'html_inline') last.text += ` ${child.content}`
    }
    if (type === 'heading_close') isHeading = false
  }
  return sections
}

/** A script, since pages that are opened from a disk may not fetch. */
export function makeIndexScript(sections: readonly Section[]): string {
  const index = new MiniSearch<Section>(OPTIONS)
  index.addAll(sections)
  return `window.troupeSearch = ${JSON.stringify({ options: OPTIONS, index: JSON.stringify(index) })}\n`
}
