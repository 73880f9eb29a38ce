import { appendFileSync, readFileSync, readlinkSync } from 'node:fs'
import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { isAlive, makeOwner, type Owner } from '../owner.ts'
import { removeDirectory } from './workspace/base-directory.ts'

/** Inside an owned directory: a line of JSON for each process that uses it. */
const OWNERS_FILE = 'owners'

/** Enters this process among the owners of a directory, before anything else is put into it. Throws what the disk says. */
export function markOwned(directory: string, wallTime: number): void {
  const mark = { ...makeOwner(wallTime), namespace: pidNamespace() }
  appendFileSync(join(directory, OWNERS_FILE), `${JSON.stringify(mark)}\n`, { mode: 0o600 })
}

/**
 * Removes the directories `parent/prefix*` that nobody can remove any more: every process that marked one is dead, killed before it
 * could. One without a readable mark, of another user, or marked in another PID namespace or boot is left alone: nothing is
 * known about its owners.
 */
export async function removeAbandoned(parent: string, prefix: string): Promise<void> {
  const namespace = pidNamespace()
  if (namespace === undefined) return
  const names = (await readdir(parent)).filter(name => name.startsWith(prefix))
  // Another process may be removing the same one: not our trouble.
  await Promise.allSettled(names.map(name => removeIfAbandoned(join(parent, name), namespace)))
}

async function removeIfAbandoned(directory: string, namespace: string): Promise<void> {
  const about = await lstat(directory)
  if (!about.isDirectory() || about.uid !== process.getuid?.()) return
  const marks = readMarks(directory)
  if (marks.length > 0 && marks.every(mark => isDead(mark, namespace))) await removeDirectory(directory)
}

type Mark = Owner & { readonly namespace: string | undefined }

function readMarks(directory: string): readonly (Mark | undefined)[] {
  const lines = readFileSync(join(directory, OWNERS_FILE), 'utf8').trim().split('\n')
  return lines.map(parseMark)
}

function parseMark(line: string): Mark | undefined {
  try {
    const value: unknown = JSON.parse(line)
    if (typeof value !== 'object' || value === null) return undefined
    if (!('pid' in value && 'processStart' in value && 'namespace' in value)) return undefined
    const { pid, processStart, namespace } = value
    if (typeof pid !== 'number' || typeof processStart !== 'string' || typeof namespace !== 'string') return undefined
    return { pid, processStart, namespace, since: 0 }
  } catch {
    // A line half written: its process counts as alive.
    return undefined
  }
}

function isDead(mark: Mark | undefined, namespace: string): boolean {
  if (mark?.namespace !== namespace || mark.processStart === null) return false
  const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()
  return mark.processStart.startsWith(`${boot}/`) && !isAlive(mark)
}

/** Process ids mean something only within one PID namespace: containers may share a temporary directory. */
function pidNamespace(): string | undefined {
  try {
    return readlinkSync('/proc/self/ns/pid')
  } catch {
    // Not a Linux /proc: no process can be told dead from here.
    return undefined
  }
}
