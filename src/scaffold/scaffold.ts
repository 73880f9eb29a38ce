import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { toErrorData } from '../errors.ts'
import { badEnvironmentName, directoryNotEmpty, notADirectory, notWritten } from './errors.ts'
import { findSpec, readOwnPackage } from './own-package.ts'
import { makeFiles, type TemplateName } from './templates.ts'

export interface ScaffoldOptions {
  readonly template: TemplateName
  /** Of the environment and its package. Default: what the directory's name makes. */
  readonly name?: string
  /** Files of the same name are replaced; others stay. Default false: a directory with files in it is refused. */
  readonly force?: boolean
}

export interface Scaffolded {
  readonly name: string
  /** Absolute. */
  readonly directory: string
  /** Names of the files written, sorted. */
  readonly files: readonly string[]
  /** Those of them that were there before. */
  readonly replaced: readonly string[]
  /** What package.json asks npm for. */
  readonly spec: string
}

/**
 * Writes a new environment that runs as it is. Rejects with `bad-environment-name`, `directory-not-empty` and `not-a-directory` before anything is
 * written, and with `scaffold-not-written` where a file cannot be.
 */
export async function scaffold(place: string, options: ScaffoldOptions): Promise<Scaffolded> {
  const directory = resolve(place)
  const name = options.name ?? toName(basename(directory))
  if (!/^[a-z0-9][a-z0-9._-]{0,99}$/.test(name)) throw badEnvironmentName(name)
  const there = await list(directory)
  // A repository that was just made is as good as empty.
  const inTheWay = there.filter(each => each !== '.git')
  if (inTheWay.length > 0 && options.force !== true) throw directoryNotEmpty(directory, inTheWay)
  const own = readOwnPackage()
  const spec = findSpec(own, directory)
  const files = await makeFiles({ template: options.template, name, spec }, own)
  await write(directory, files)
  return {
    name,
    directory,
    files: [...files.keys()],
    replaced: [...files.keys()].filter(each => there.includes(each)),
    spec,
  }
}

/** `My Env!` → `my-env`. */
function toName(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, '-')
    .replaceAll(/^[^a-z0-9]+|-+$/g, '')
}

async function list(directory: string): Promise<readonly string[]> {
  try {
    return (await readdir(directory)).sort()
  } catch (error) {
    const { tag } = toErrorData(error)
    if (tag === 'enoent') return []
    throw tag === 'enotdir' ? notADirectory(directory) : error
  }
}

async function write(directory: string, files: ReadonlyMap<string, string>): Promise<void> {
  let path = directory
  try {
    await mkdir(directory, { recursive: true })
    for (const [name, text] of files) {
      path = join(directory, name)
      await writeFile(path, text)
    }
  } catch (error) {
    throw notWritten(path, error)
  }
}
