import { createHash, type Hash } from 'node:crypto'
import { createReadStream, statSync } from 'node:fs'
import { lstat, readdir, readlink } from 'node:fs/promises'
import { posix } from 'node:path'
import type { Image } from '@daytonaio/sdk'
import { checkSources, isPattern, toEntry } from './check-sources.ts'
import { toCommand } from './command.ts'
import { type CopySource, parseDockerfile } from './dockerfile.ts'
import { dockerfileCopiesMissing, dockerfileMissing } from './errors.ts'

/** vCPUs, and GiB of memory and disk of one sandbox. What is absent is left to the provider. */
export interface WantedResources {
  readonly cpu?: number
  readonly memory?: number
  readonly disk?: number
}

/** What a snapshot is built from, checked as far as can be without the provider. */
export interface Recipe {
  readonly image: Image
  /** Of the Dockerfile, where it is a file. */
  readonly address: string
  /** What a container of it would run; undefined when that is the base image's affair. */
  readonly command: string | undefined
  /** The sources that are patterns, which some builders refuse. */
  readonly patterns: readonly CopySource[]
}

/**
 * Reads an image, or the Dockerfile at a path. Nothing is sent anywhere. Rejects with `dockerfile-missing`, `dockerfile-invalid` or
 * `dockerfile-copies-missing`.
 */
export async function readRecipe(source: Image | string): Promise<Recipe> {
  const address = typeof source === 'string' ? source : 'the image'
  const image = typeof source === 'string' ? await loadDockerfile(source) : source
  const { sources, last } = parseDockerfile(image.dockerfile, address)
  const problems = checkSources(image, sources)
  if (problems.length > 0) throw dockerfileCopiesMissing(address, problems)
  return { image, address, command: toCommand(last), patterns: sources.filter(({ path }) => isPattern(path)) }
}

async function loadDockerfile(path: string): Promise<Image> {
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) throw dockerfileMissing(path)
  const sdk = await import('@daytonaio/sdk')
  return sdk.Image.fromDockerfile(path)
}

/**
 * Twelve hex digits of a SHA-256 over the Dockerfile, all that it copies (path in the archive, executable or not, content) the resources, and
 * the region that was asked for, since a snapshot is in one. Of a mode no more than git keeps: the rest is the umask of whoever made the checkout.
 * The SDK itself compares names and contents alone: where only a mode or a link changed, it builds the new snapshot from what it sent before.
 */
export async function hashRecipe(
  { image }: Recipe,
  resources: WantedResources,
  region: string | undefined,
): Promise<string> {
  const hash = createHash('sha256')
  const { cpu = null, memory = null, disk = null } = resources
  hash.update(JSON.stringify([image.dockerfile, cpu, memory, disk, region ?? null]))
  const entries = new Map<string, string>()
  for (const { sourcePath, archivePath } of image.contextList) await collect(sourcePath, toEntry(archivePath), entries)
  for (const [entry, path] of [...entries].sort(([one], [other]) => (one < other ? -1 : 1)))
    await add(hash, entry, path)
  return hash.digest('hex').slice(0, 12)
}

async function collect(path: string, entry: string, entries: Map<string, string>): Promise<void> {
  entries.set(entry, path)
  if (!(await lstat(path)).isDirectory()) return
  for (const name of await readdir(path)) await collect(posix.join(path, name), posix.join(entry, name), entries)
}

async function add(hash: Hash, entry: string, path: string): Promise<void> {
  const status = await lstat(path)
  if (status.isSymbolicLink()) {
    hash.update(JSON.stringify([entry, 'link', await readlink(path)]))
  } else if (status.isDirectory()) {
    hash.update(JSON.stringify([entry, 'directory']))
  } else {
    hash.update(JSON.stringify([entry, (status.mode & 0o111) === 0 ? 'file' : 'program', status.size]))
    for await (const piece of createReadStream(path)) hash.update(piece)
  }
}
