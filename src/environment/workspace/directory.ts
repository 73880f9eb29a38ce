import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  ftruncateSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { TroupeError } from '../../errors.ts'
import { fileNotRead, fileNotRemoved, fileNotWritten, fileTooLarge, pathRefused } from './errors.ts'
import type { Owner } from './owners.ts'
import { toComponents } from './paths.ts'

const { O_CREAT, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants
const MAX_DEPTH = 64

export interface DirectoryOptions {
  readonly directory: string
  /** The name that commands know the directory by. */
  readonly root: string
  readonly owner: Owner | undefined
  readonly maxFileBytes: number
}

/**
 * Files in a directory that the agent can write to while the host, perhaps as root, works in it. Paths are therefore never
 * resolved by the kernel as a whole: each directory is opened without following links, and the next component is opened
 * through that descriptor, so that swapping a directory for a link at any moment gains nothing. Symbolic links are refused
 * wherever they point. Synchronous: a walk is a few microseconds, and files are bounded.
 */
export interface DirectoryFiles {
  /** Throws `file-not-read`, `file-too-large` or `path-refused`. */
  read(path: string): Buffer
  /** Creates directories on the way. Throws `file-not-written`, `file-too-large` or `path-refused`. */
  write(path: string, content: string | Uint8Array): void
  /** A file, or a directory with everything in it; nothing there is fine. Throws `file-not-removed` or `path-refused`. */
  remove(path: string): void
}

export function makeDirectoryFiles(options: DirectoryOptions): DirectoryFiles {
  const { directory, root, owner, maxFileBytes } = options

  function adopt(descriptor: number): void {
    if (owner !== undefined) fchownSync(descriptor, owner, owner)
  }

  /** Runs `body` with the path, through an open descriptor, of the last component's directory. */
  function within<T>(path: string, create: boolean, body: (entry: string) => T): T {
    const components = toComponents(path, root)
    const name = components.at(-1) ?? ''
    let current = openDirectory(directory)
    try {
      for (const component of components.slice(0, -1)) {
        const entry = through(current, component)
        const made = create && makeDirectory(entry)
        const next = openDirectory(entry)
        closeSync(current)
        current = next
        if (made) adopt(current)
      }
      return body(through(current, name))
    } finally {
      closeSync(current)
    }
  }

  return {
    read: path =>
      failing(path, fileNotRead, () =>
        within(path, false, entry =>
          withFile(entry, O_RDONLY, 0, descriptor => {
            const stats = fstatSync(descriptor)
            if (!stats.isFile()) throw fileNotRead(path, 'it is not a regular file')
            if (stats.size > maxFileBytes) throw fileTooLarge(path, stats.size, maxFileBytes)
            return readFileSync(descriptor)
          }),
        ),
      ),
    write: (path, content) =>
      failing(path, fileNotWritten, () => {
        const bytes = typeof content === 'string' ? Buffer.from(content) : content
        if (bytes.length > maxFileBytes) throw fileTooLarge(path, bytes.length, maxFileBytes)
        within(path, true, entry =>
          withFile(entry, O_WRONLY | O_CREAT, 0o644, descriptor => {
            if (!fstatSync(descriptor).isFile()) throw fileNotWritten(path, 'it is not a regular file')
            ftruncateSync(descriptor)
            adopt(descriptor)
            writeFileSync(descriptor, bytes)
          }),
        )
      }),
    remove: path => failing(path, fileNotRemoved, () => within(path, false, entry => removeEntry(entry, 0))),
  }
}

const through = (descriptor: number, name: string): string => `/proc/self/fd/${descriptor}/${name}`

function openDirectory(path: string): number {
  return openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
}

/** True when it was not there before. */
function makeDirectory(path: string): boolean {
  try {
    mkdirSync(path, 0o755)
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    throw error
  }
}

/** O_NONBLOCK: opening a named pipe must not wait for its other end. */
function withFile<T>(path: string, flags: number, mode: number, body: (descriptor: number) => T): T {
  const descriptor = openSync(path, flags | O_NOFOLLOW | O_NONBLOCK, mode)
  try {
    return body(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

function removeEntry(entry: string, depth: number): void {
  const stats = lstatSync(entry, { throwIfNoEntry: false })
  if (stats === undefined) return
  if (!stats.isDirectory()) {
    unlinkSync(entry)
    return
  }
  if (depth === MAX_DEPTH) throw new Error(`directories are nested deeper than ${MAX_DEPTH}`)
  const descriptor = openDirectory(entry)
  try {
    fchmodSync(descriptor, 0o700)
    for (const name of readdirSync(`/proc/self/fd/${descriptor}`)) removeEntry(through(descriptor, name), depth + 1)
  } finally {
    closeSync(descriptor)
  }
  rmdirSync(entry)
}

function failing<T>(path: string, toError: (path: string, why: string) => TroupeError, body: () => T): T {
  try {
    return body()
  } catch (error) {
    if (error instanceof TroupeError) throw error
    const code = codeOf(error)
    if (code === 'ELOOP' || code === 'EMLINK') throw pathRefused(path, 'a part of it is a symbolic link')
    if (code === 'ENOENT' && toError === fileNotRemoved) return undefined as T // its directory is gone as well
    throw toError(path, code === undefined ? String(error) : describe(code))
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file or directory',
  ENOTDIR: 'a part of it is not a directory, or is a symbolic link',
  EISDIR: 'it is a directory',
  EACCES: 'permission denied',
  ENXIO: 'it is not a regular file',
  ENOSPC: 'no space left on the device',
  ENAMETOOLONG: 'its name is too long',
}

const describe = (code: string): string => REASONS[code] ?? code

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
