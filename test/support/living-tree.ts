import { type Dirent, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** All entries below a directory in which others are at work. What is gone before it is looked at is not there: Node's own recursive listing would throw. */
export function entriesBelow(directory: string): readonly Dirent[] {
  const entries = unlessGone(() => readdirSync(directory, { withFileTypes: true })) ?? []
  return entries.flatMap(entry =>
    entry.isDirectory() ? [entry, ...entriesBelow(join(directory, entry.name))] : [entry],
  )
}

/** Every file below it, in one text, a character for each byte. */
export function textBelow(directory: string): string {
  const files = entriesBelow(directory).filter(entry => entry.isFile())
  return files
    .map(({ parentPath, name }) => unlessGone(() => readFileSync(join(parentPath, name), 'latin1')) ?? '')
    .join('\n')
}

function unlessGone<Value>(look: () => Value): Value | undefined {
  try {
    return look()
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}
