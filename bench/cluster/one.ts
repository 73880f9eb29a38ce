import { fileURLToPath } from 'node:url'
import { execa } from 'execa'
import { makeBenchDirectory } from '../directory.ts'

const TIMEOUT_MS = 1_800_000

/** Measures in a process of its own, by the script of that name here, and answers with what it printed. After Ctrl-C it ends, and with it all that it started. */
export async function measureBy<Figures>(
  script: string,
  given: object,
  signal: AbortSignal | undefined,
  prefix: readonly string[] = [],
): Promise<Figures> {
  const path = fileURLToPath(new URL(`./${script}.js`, import.meta.url))
  const [file = process.execPath, ...argv] = [...prefix, process.execPath, path, JSON.stringify(given)]
  try {
    const { stdout } = await execa(file, argv, {
      timeout: TIMEOUT_MS,
      stderr: 'inherit',
      ...(signal === undefined ? {} : { cancelSignal: signal }),
    })
    return JSON.parse(stdout)
  } finally {
    // Making one removes those whose owners have been ended.
    ;(await makeBenchDirectory()).remove()
  }
}
