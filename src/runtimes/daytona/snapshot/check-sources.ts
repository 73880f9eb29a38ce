import { existsSync } from 'node:fs'
import { posix } from 'node:path'
import type { Image } from '@daytonaio/sdk'
import type { CopySource } from './dockerfile.ts'
import type { CopyProblem } from './errors.ts'

/** `*`, `?` and the like, which builders expand and the SDK sends nothing for, unless they are in a JSON list. */
export const isPattern = (path: string): boolean => /[*?[]/.test(path)

/** As a path is called in an archive. */
export const toEntry = (path: string): string => posix.normalize(path).replace(/\/$/, '')

/** What a builder would not find. The SDK sends what `COPY` names, each as a context of its own, and nothing else. */
export function checkSources({ contextList }: Image, sources: readonly CopySource[]): readonly CopyProblem[] {
  const contexts = contextList.map(({ sourcePath, archivePath }) => ({ sourcePath, entry: toEntry(archivePath) }))
  const absent = contexts.filter(({ sourcePath }) => !existsSync(sourcePath))
  const isAbsent = (path: string) =>
    absent.some(({ sourcePath, entry }) => entry === toEntry(path) || sourcePath === path)
  const problems = sources.filter(({ path }) => isAbsent(path) || !isSent(path, contexts))
  if (problems.length > 0) return problems
  return absent.map(({ sourcePath }) => ({ instruction: 'COPY', path: sourcePath, line: undefined }))
}

interface Context {
  readonly sourcePath: string
  readonly entry: string
}

function isSent(path: string, contexts: readonly Context[]): boolean {
  // The SDK reads a variable as nothing, and would send the whole folder.
  if (path.includes('$')) return false
  const entry = toEntry(path)
  if (entry.startsWith('..')) return false
  if (!isPattern(entry)) return contexts.some(context => holds(context, entry))
  const folder = posix.dirname(entry.slice(0, entry.search(/[*?[]/) + 1))
  return contexts.some(context => matches(entry, context.entry) || holds(context, folder))
}

function holds({ sourcePath, entry }: Context, wanted: string): boolean {
  if (entry === wanted) return existsSync(sourcePath)
  if (entry === '.') return existsSync(posix.join(sourcePath, wanted))
  return wanted.startsWith(`${entry}/`) && existsSync(posix.join(sourcePath, wanted.slice(entry.length)))
}

/** Roughly: sets are taken for any character. A builder has the last word. */
function matches(pattern: string, entry: string): boolean {
  const text = pattern
    .replace(/\[[^\]]*\]/g, '?')
    .replace(/[.+^${}()|\\[\]]/g, String.raw`\$&`)
    .replaceAll('*', '[^/]*')
    .replaceAll('?', '[^/]')
  return new RegExp(`^${text}$`).test(entry)
}
