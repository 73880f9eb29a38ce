import { execFile } from 'node:child_process'
import { existsSync, readFileSync, readlinkSync } from 'node:fs'
import { chmod, chown, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Owner } from './owners.ts'

/** The host's place on disk: one directory a session, none readable by another session's user. */
export interface BaseDirectory {
  /** World-readable files that sandboxes see. */
  readonly etc: string
  /** A fresh directory that belongs to `owner` alone. */
  make(name: string, owner: Owner | undefined): Promise<string>
  remove(): Promise<void>
}

/** `parent` must let other users pass through (mode x), as the temporary directory does, when this process is root. */
export async function makeBaseDirectory(parent: string = tmpdir()): Promise<BaseDirectory> {
  const prefix = prefixOfThisMachine()
  await removeAbandoned(parent, prefix)
  const base = await mkdtemp(join(parent, `${prefix}${process.pid}-`))
  await chmod(base, 0o711)
  const etc = join(base, 'etc')
  await mkdir(etc, { mode: 0o755 })
  return {
    etc,
    async make(name, owner) {
      const directory = join(base, name)
      await mkdir(directory, { mode: 0o700 })
      if (owner !== undefined) await chown(directory, owner, owner)
      return directory
    },
    remove: () => removeDirectory(base),
  }
}

const NAME = 'troupe-workspaces-'

/** Process ids mean something only within one boot and one PID namespace: containers may share a temporary directory. */
function prefixOfThisMachine(): string {
  const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').slice(0, 8)
  const namespace = readlinkSync('/proc/self/ns/pid').replace(/\D/g, '')
  return `${NAME}${boot}-${namespace}-`
}

/** Removes what hosts left behind that were killed: their processes ended with them, their directories could not. */
async function removeAbandoned(parent: string, prefix: string): Promise<void> {
  const names = (await readdir(parent)).filter(name => name.startsWith(prefix))
  const abandoned = names.filter(name => !existsSync(`/proc/${name.slice(prefix.length).split('-')[0]}`))
  // Another host may be removing the same one, or it belongs to another user: neither is our trouble.
  await Promise.allSettled(abandoned.map(name => removeDirectory(join(parent, name))))
}

const run = promisify(execFile)

/**
 * Removes a directory that an agent filled, once its processes are dead. What Node's own `rm` cannot remove is left to
 * coreutils: paths longer than the kernel takes, and directories without permissions.
 */
export async function removeDirectory(directory: string): Promise<void> {
  try {
    await rm(directory, { recursive: true, force: true })
  } catch {
    // ENAMETOOLONG, EACCES: both are the agent's doing and no reason to leave its files behind
    await run('/bin/chmod', ['-R', 'u+rwx', '--', directory])
    await run('/bin/rm', ['-rf', '--', directory])
  }
}
