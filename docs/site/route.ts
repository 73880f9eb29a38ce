/** Where a file of the repository is in the site, and how one page points at another. */
import { posix } from 'node:path'

const SOURCES = ['.ts', '.mjs', '.js', '.py', '.sh']

/** Pages of docs lie at the root, the README is its first page; sources are pages, too, and all else is copied. */
export function routeOf(path: string): string {
  if (path === 'README.md') return 'index.html'
  if (path === 'docs/README.md') return 'contents.html'
  const place = path.startsWith('docs/') ? path.slice('docs/'.length) : posix.join('files', path)
  if (path.endsWith('.md')) return `${place.slice(0, -'.md'.length)}.html`
  return isSource(path) || !posix.basename(path).includes('.') ? `${place}.html` : place
}

export function isSource(path: string): boolean {
  return SOURCES.includes(posix.extname(path))
}

/** A relative address, so that the site works from a disk and under any path. */
export function between(fromRoute: string, toRoute: string): string {
  return posix.relative(posix.dirname(fromRoute), toRoute)
}

/** What a link of a page points at: a file of the repository and a heading in it, or undefined where it leads out. */
export function resolveLink(
  path: string,
  target: string,
): { readonly path: string; readonly anchor: string } | undefined {
  if (/^[a-z]+:/.test(target)) return undefined
  const [file = '', anchor] = target.split('#')
  return {
    path: file === '' ? path : posix.join(posix.dirname(path), decodeURIComponent(file)),
    anchor: anchor === undefined ? '' : `#${anchor}`,
  }
}
