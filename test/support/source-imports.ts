import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

/** One import as a source file states it. Paths are relative to the repository, with `/`. */
export interface SourceImport {
  readonly from: string
  /** A file of the repository, or what was written, for packages and `node:` modules. */
  readonly to: string
  readonly typeOnly: boolean
}

export interface SourceFile {
  readonly path: string
  readonly lines: number
  readonly imports: readonly SourceImport[]
}

/** The repository's root, from the built test. */
export const repository = resolve(dirname(fileURLToPath(import.meta.url)), '../../..')

/** Every TypeScript file under the folders, those with markup in them too. A folder may be absent. */
export function readSources(...folders: readonly string[]): SourceFile[] {
  return folders.flatMap(folder =>
    listFiles(folder).map(path => {
      const text = readFileSync(join(repository, path), 'utf8')
      return { path, lines: text.split('\n').length - 1, imports: findImports(path, text) }
    }),
  )
}

const STATIC = /^[ \t]*(import|export)\s+(type\s+)?([^'";]*?\sfrom\s+)?'([^']+)'/gm
const DYNAMIC = /\bimport\(\s*'([^']+)'\s*\)/g
const THREAD = /new URL\('(\.[^']+\.js)', import\.meta\.url\)/g

/** Static and dynamic imports, re-exports, and files started by URL. Comments do not count; formatted code does. */
export function findImports(path: string, text: string): SourceImport[] {
  const code = text.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/^\s*\/\/.*$/gm, '')
  const to = (specifier: string) =>
    specifier.startsWith('.') ? join(dirname(path), specifier).split(sep).join('/') : specifier
  return [
    ...[...code.matchAll(STATIC)].map(([, , type, names = '', specifier = '']) => ({
      from: path,
      to: to(specifier),
      typeOnly: type !== undefined || isAllTypes(names),
    })),
    ...[...code.matchAll(DYNAMIC)].map(([, specifier = '']) => ({ from: path, to: to(specifier), typeOnly: false })),
    ...[...code.matchAll(THREAD)].map(([, specifier = '']) => ({
      from: path,
      to: to(specifier).replace(/\.js$/, '.ts'),
      typeOnly: false,
    })),
  ]
}

/** `{ type A, type B }` is erased as `type { A, B }` is. */
function isAllTypes(names: string): boolean {
  const inner = /^\s*\{([^}]*)\}/.exec(names)?.[1]
  const items = inner?.split(',').filter(item => item.trim() !== '') ?? []
  return items.length > 0 && items.every(item => item.trim().startsWith('type '))
}

function listFiles(folder: string): string[] {
  try {
    return readdirSync(join(repository, folder), { recursive: true, withFileTypes: true })
      .filter(entry => entry.isFile() && /\.tsx?$/.test(entry.name))
      .map(entry => relative(repository, join(entry.parentPath, entry.name)).split(sep).join('/'))
      .sort()
  } catch {
    // A folder that is not there has no files.
    return []
  }
}
