import { posix } from 'node:path'

/** Says of a path in a build context, with `/` and without a leading one, whether it is left out. */
export interface Ignore {
  ignores(path: string): boolean
  /** Whether something below a path that is left out may be let in again. */
  readonly hasExceptions: boolean
}

interface Rule {
  readonly matches: RegExp
  readonly lets: boolean
}

/** Reads a `.dockerignore` as builders do: the last rule that matches a path, or a folder that it is in, decides. */
export function parseIgnore(text: string): Ignore {
  const rules = text
    .replace(/^\uFEFF/, '')
    .split('\n')
    .map(line => line.trim())
    .filter(line => line !== '' && !line.startsWith('#'))
    .flatMap(toRule)
  return {
    hasExceptions: rules.some(({ lets }) => lets),
    ignores(path) {
      const places = withFolders(path)
      let ignored = false
      for (const { matches, lets } of rules) if (places.some(place => matches.test(place))) ignored = !lets
      return ignored
    },
  }
}

function toRule(line: string): readonly Rule[] {
  const lets = line.startsWith('!')
  const pattern = posix.normalize((lets ? line.slice(1) : line).trim()).replace(/^\/+|\/+$/g, '')
  if (pattern === '' || pattern === '.') return []
  return [{ matches: new RegExp(`^${toExpression(pattern)}$`), lets }]
}

/** `*` and `?` stop at a folder's end, `**` does not. */
function toExpression(pattern: string): string {
  return pattern.replaceAll(/\*\*\/|\*\*|\*|\?|\[(?:\\.|[^\]\\])+\]|\\.|./gs, part => {
    if (part === '**/') return '(?:.*/)?'
    if (part === '**') return '.*'
    if (part === '*') return '[^/]*'
    if (part === '?') return '[^/]'
    if (part.length > 1 && part.startsWith('[')) return part
    const plain = part.length > 1 ? part.slice(1) : part
    return plain.replace(/[.+^${}()|[\]\\/*?-]/, String.raw`\$&`)
  })
}

/** `a/b/c` is in `a/b` and in `a`. */
function withFolders(path: string): readonly string[] {
  const parts = path.split('/')
  return parts.map((_, at) => parts.slice(0, at + 1).join('/'))
}
