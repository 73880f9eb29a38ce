import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** A directory of the test's own, with `files` in it, in folders where their names say so, for as long as `body` runs. */
export async function withFiles<Value>(
  files: Readonly<Record<string, string>>,
  body: (directory: string) => Promise<Value>,
): Promise<Value> {
  const directory = await mkdtemp(join(tmpdir(), 'troupe-test-'))
  try {
    for (const [name, text] of Object.entries(files)) {
      await mkdir(dirname(join(directory, name)), { recursive: true })
      await writeFile(join(directory, name), text)
    }
    return await body(directory)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}
