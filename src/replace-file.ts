import { mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Replaces the file in one move, and makes its directory where there is none: a reader, or whoever comes after a kill, finds the old text or the new,
 * never a part. Rejects with the file system's error; what was there is as it was then.
 */
export async function replaceFile(path: string, text: string): Promise<void> {
  const half = `${path}.${process.pid}.half`
  try {
    await mkdir(dirname(path), { recursive: true })
    const file = await open(half, 'w')
    try {
      await file.writeFile(text)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(half, path)
  } catch (error) {
    await rm(half, { force: true }).catch(() => {}) // What could not be written cannot always be removed; the error says enough.
    throw error
  }
}
