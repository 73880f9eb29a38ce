import { lstat, readdir, readFile } from 'node:fs/promises'
import { join, posix } from 'node:path'
import { Readable } from 'node:stream'
import { create } from 'tar'
import { toErrorData } from '../../../errors.ts'
import { parseDockerfile } from '../../daytona/snapshot/dockerfile.ts'
import { dockerfileMissing, ignoreNotRead } from '../errors.ts'
import type { ImageSource } from '../settings.ts'
import { type Ignore, parseIgnore } from './ignore.ts'

type DockerfileSource = Extract<ImageSource, { kind: 'dockerfile' }>

/** What is sent to be built. */
export interface BuildContext {
  /** Paths in the context, in order. */
  readonly paths: readonly string[]
  /** As a compressed archive, without owners. */
  pack(): Readable
}

/**
 * The Dockerfile and what it copies, less what `.dockerignore` leaves out; the whole folder where it copies patterns, variables, links or the folder itself. A
 * source that is not there is left to the builder to tell. Rejects with `dockerfile-missing`, `dockerfile-invalid` or `docker-ignore-not-read`.
 */
export async function readContext({ path, context, inContext }: DockerfileSource): Promise<BuildContext> {
  const { sources } = parseDockerfile(await readDockerfile(path), path)
  const ignore = await readIgnore(context)
  const wanted = sources.map(source => posix.normalize(source.path).replace(/^\/+|\/+$/g, ''))
  const isOpen = wanted.some(each => each === '' || each === '.' || each.startsWith('..') || /[*?[$]/.test(each))
  const isWhole = isOpen || (await Promise.all(wanted.map(each => isLink(join(context, each))))).includes(true)
  const found = new Set([inContext])
  for (const start of isWhole ? ['.'] : wanted) await collect(context, start, ignore, found)
  const paths = [...found].sort()
  return {
    paths,
    pack: () => {
      // What begins with @ would be read as the name of an archive.
      const entries = paths.map(each => (each.startsWith('@') ? `./${each}` : each))
      return Readable.from(create({ cwd: context, gzip: true, portable: true, noDirRecurse: true }, entries))
    },
  }
}

async function readDockerfile(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch {
    // Whether it is not there, a folder, or not to be read: nothing can be built from it.
    throw dockerfileMissing(path)
  }
}

/** Without one nothing is left out; one that cannot be read may well be there to keep secrets back. */
async function readIgnore(context: string): Promise<Ignore> {
  const path = join(context, '.dockerignore')
  try {
    return parseIgnore(await readFile(path, 'utf8'))
  } catch (error) {
    if (toErrorData(error).tag === 'enoent') return parseIgnore('')
    throw ignoreNotRead(path, error)
  }
}

/** What it leads to would have to be sent, too. */
async function isLink(path: string): Promise<boolean> {
  const status = await lstat(path).catch(() => undefined) // the builder says what is not there
  return status?.isSymbolicLink() === true
}

async function collect(context: string, path: string, ignore: Ignore, found: Set<string>): Promise<void> {
  const isRoot = path === '.'
  const ignored = !isRoot && ignore.ignores(path)
  const status = await lstat(join(context, path)).catch(() => undefined) // the builder says what is not there
  if (status === undefined) return
  if (!ignored && !isRoot) found.add(path)
  if (!status.isDirectory() || (ignored && !ignore.hasExceptions)) return
  for (const name of await readdir(join(context, path)))
    await collect(context, isRoot ? name : posix.join(path, name), ignore, found)
}
