import { mkdir, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { isAlive, makeOwner, type Owner } from '../../owner.ts'
import type { Blobs } from './blobs.ts'
import { directoryHeld, directoryUnusable } from './errors.ts'

const OWNER_FILE = 'owner'
/** What a crash in the middle of a write leaves. */
const UNFINISHED = '.part'

/** Files of a directory of their own, made if missing and held by one process. Throws `policy-directory-held` or `-unusable`. */
export async function openDirectoryBlobs(path: string, since: number): Promise<Blobs> {
  const directory = resolve(path)
  try {
    await mkdir(directory, { recursive: true })
    await take(directory, since)
    for (const name of await readdir(directory)) if (name.endsWith(UNFINISHED)) await rm(join(directory, name))
  } catch (error) {
    if (error instanceof Error && 'tag' in error) throw error
    throw directoryUnusable(directory, error)
  }
  return {
    location: directory,
    put: (name, bytes) => writeWhole(directory, name, bytes),
    async get(name) {
      try {
        return await readFile(join(directory, name))
      } catch (error) {
        if (isMissing(error)) return undefined
        throw error
      }
    },
    remove: name => rm(join(directory, name), { force: true }),
    list: async () => (await readdir(directory)).filter(name => name !== OWNER_FILE && !name.endsWith(UNFINISHED)),
    close: () => rm(join(directory, OWNER_FILE), { force: true }),
  }
}

async function take(directory: string, since: number): Promise<void> {
  const file = join(directory, OWNER_FILE)
  const mark = JSON.stringify(makeOwner(since))
  try {
    await writeFile(file, mark, { flag: 'wx' })
  } catch (error) {
    if (!isPresent(error)) throw error
    const owner = parseOwner(await readFile(file, 'utf8'))
    if (owner !== undefined && isAlive(owner)) throw directoryHeld(directory, owner.pid)
    await writeWhole(directory, OWNER_FILE, Buffer.from(mark))
  }
}

/** Undefined for a mark half written: its process died at the start. */
function parseOwner(text: string): Owner | undefined {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value !== 'object' || value === null || !('pid' in value && 'processStart' in value)) return undefined
    const { pid, processStart } = value
    if (typeof pid !== 'number' || (processStart !== null && typeof processStart !== 'string')) return undefined
    return { pid, processStart, since: 0 }
  } catch {
    // Not JSON: see above.
    return undefined
  }
}

async function writeWhole(directory: string, name: string, bytes: Uint8Array): Promise<void> {
  const part = join(directory, `${name}${UNFINISHED}`)
  const file = await open(part, 'w')
  try {
    await file.writeFile(bytes)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(part, join(directory, name))
  // The rename itself is durable only with its directory.
  const entry = await open(directory, 'r')
  try {
    await entry.sync()
  } finally {
    await entry.close()
  }
}

const isMissing = (error: unknown) => error instanceof Error && 'code' in error && error.code === 'ENOENT'
const isPresent = (error: unknown) => error instanceof Error && 'code' in error && error.code === 'EEXIST'
