/** The frame of every page: navigation in reading order, search, the page's own headings, and what comes before and after. */
import type { Heading } from './page.ts'
import { escapeHtml } from './render.ts'
import { between } from './route.ts'

export interface NavEntry {
  readonly title: string
  readonly route: string
}

export interface NavChapter {
  readonly title: string
  readonly entries: readonly NavEntry[]
}

export interface PageParts {
  readonly title: string
  readonly route: string
  readonly html: string
  readonly headings: readonly Heading[]
  readonly chapters: readonly NavChapter[]
}

export function makeHtml({ chapters, headings, html, route, title }: PageParts): string {
  const to = (other: string) => escapeHtml(between(route, other))
  const order = chapters.flatMap(({ entries }) => entries)
  const at = order.findIndex(entry => entry.route === route)
  const link = (entry: NavEntry) =>
    `<a href="${to(entry.route)}"${entry.route === route ? ' aria-current="page"' : ''}>${escapeHtml(entry.title)}</a>`
  const nav = chapters
    .map(
      chapter =>
        `<h2>${escapeHtml(chapter.title)}</h2><ul>${chapter.entries.map(each => `<li>${link(each)}</li>`).join('')}</ul>`,
    )
    .join('\n')
  const neighbour = (entry: NavEntry | undefined, word: string) =>
    entry === undefined ? '<span></span>' : `<a href="${to(entry.route)}">${word} ${escapeHtml(entry.title)}</a>`
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title === 'Troupe' ? title : `${title} · Troupe`)}</title>
<link rel="stylesheet" href="${to('assets/style.css')}">
<script src="${to('assets/client.js')}" data-root="${to('x').replace(/x$/, '')}"></script>
</head>
<body>
<a class="skip" href="#content">To the text</a>
<header>
<a class="brand" href="${to('index.html')}">Troupe</a>
<div class="search" role="search"><input type="search" placeholder="Search" aria-label="Search the documentation" aria-controls="found" autocomplete="off"><ol id="found" hidden></ol></div>
<button type="button" class="theme" aria-label="Dark or light">◐</button>
</header>
<div class="frame">
<nav class="pages" aria-label="Pages"><details open><summary>Pages</summary>
${nav}
</details></nav>
<main id="content">
${html}
${at < 0 ? '' : `<footer>${neighbour(order[at - 1], '←')}${neighbour(order[at + 1], '→')}</footer>`}
</main>
${makeContents(headings)}
</div>
</body>
</html>
`
}

function makeContents(headings: readonly Heading[]): string {
  const shown = headings.filter(({ level }) => level === 2)
  if (shown.length < 2) return ''
  const items = shown.map(({ anchor, text }) => `<li><a href="#${escapeHtml(anchor)}">${escapeHtml(text)}</a></li>`)
  return `<nav class="headings" aria-label="On this page"><h2>On this page</h2><ul>${items.join('')}</ul></nav>`
}
