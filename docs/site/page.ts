/** A page of Markdown, as far as the site and the tests need to know it: its headings, blocks, and links. */
import GithubSlugger from 'github-slugger'
import MarkdownIt from 'markdown-it'
import type Token from 'markdown-it/lib/token.mjs'

/** `<!-- name: text -->`; without a colon the text is empty. */
export interface Note {
  readonly name: string
  readonly text: string
}

/** A fenced block, or an indented one, which has no language. */
export interface Block {
  /** Of its first line, from 1. */
  readonly line: number
  readonly language: string
  readonly text: string
  /** The comments right before it. */
  readonly notes: readonly Note[]
}

export interface Link {
  readonly line: number
  readonly target: string
}

export interface Heading {
  readonly level: number
  readonly text: string
  /** As GitHub makes it. */
  readonly anchor: string
}

export interface Page {
  /** From the repository's root, with `/`. */
  readonly path: string
  readonly title: string
  readonly headings: readonly Heading[]
  readonly blocks: readonly Block[]
  /** Images among them. */
  readonly links: readonly Link[]
}

/** Tables and comments as GitHub reads them. */
export function makeParser(): MarkdownIt {
  return new MarkdownIt({ html: true, linkify: false })
}

export function readPage(path: string, markdown: string): Page {
  const tokens = makeParser().parse(markdown, {})
  const headings = readHeadings(tokens)
  const title = headings.find(({ level }) => level === 1)?.text ?? path
  return { path, title, headings, blocks: readBlocks(tokens), links: readLinks(tokens) }
}

export function readHeadings(tokens: readonly Token[]): readonly Heading[] {
  const slugger = new GithubSlugger()
  return tokens.flatMap((token, at) => {
    if (token.type !== 'heading_open') return []
    const text = plainText(tokens[at + 1])
    return [{ level: Number(token.tag.slice(1)), text, anchor: slugger.slug(text) }]
  })
}

/** What a reader sees of a line, without its marks. */
function plainText(token: Token | undefined): string {
  return (token?.children ?? [])
    .map(({ type, content }) => (type === 'text' || type === 'code_inline' ? content : type === 'softbreak' ? ' ' : ''))
    .join('')
}

function readBlocks(tokens: readonly Token[]): readonly Block[] {
  const blocks: Block[] = []
  let notes: Note[] = []
  for (const { type, content, info, map } of tokens) {
    if (type === 'html_block') {
      notes.push(...readNotes(content))
      continue
    }
    if (type === 'fence' || type === 'code_block')
      blocks.push({ line: (map?.[0] ?? 0) + 1, language: info.trim().split(/\s/)[0] ?? '', text: content, notes })
    notes = []
  }
  return blocks
}

/** The comments of a piece of HTML. */
function readNotes(html: string): readonly Note[] {
  return [...html.matchAll(/<!--([\s\S]*?)-->/g)].map(([, inner = '']) => {
    const colon = inner.indexOf(':')
    if (colon < 0) return { name: inner.trim(), text: '' }
    return { name: inner.slice(0, colon).trim(), text: inner.slice(colon + 1).trim() }
  })
}

function readLinks(tokens: readonly Token[]): readonly Link[] {
  return tokens.flatMap(({ children, map }) =>
    (children ?? []).flatMap(child => {
      const target = child.attrGet(child.type === 'image' ? 'src' : 'href')
      return target === null ? [] : [{ line: (map?.[0] ?? 0) + 1, target }]
    }),
  )
}
