import { existsSync } from 'node:fs'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { execa } from 'execa'
import { z } from 'zod'
import { TroupeError, toErrorData } from '../../../src/errors.ts'

/** What is compared with. Daytona's SDK for Python is held at the release of its SDK for JavaScript that this package uses. */
const REQUIREMENTS = ['hud[daytona]==0.6.21', 'daytona==0.218.0']
/** HUD asks for it. */
const OLDEST_PYTHON = [3, 11] as const

const directory = fileURLToPath(new URL('../../../../.cache/peers-venv/', import.meta.url))
const marker = join(directory, 'made-of.json')
const python = join(directory, 'bin', 'python')
const INSTALL_MS = 600_000

/** A Python that has HUD's SDK. */
export interface HudPython {
  readonly program: string
  /** Of Python and of the packages that matter, for whoever reads the figures. */
  readonly versions: string
}

/**
 * The virtual environment, made when it is not there or holds something else: that takes minutes and the package index. One that was
 * left half made is made anew. Throws `hud-missing` with the reason.
 */
export async function prepareHud(signal: AbortSignal, say: (line: string) => void): Promise<HudPython> {
  try {
    if (!(await isMade())) await make(signal, say)
    const { stdout } = await execa(python, ['-c', VERSIONS], { cancelSignal: signal })
    return { program: python, versions: stdout.trim() }
  } catch (error) {
    throw new TroupeError({
      tag: 'hud-missing',
      message: `HUD's SDK cannot be had; it needs python3 and, the first time, the package index: ${reasonOf(error)}`,
      cause: toErrorData(error),
    })
  }
}

const VERSIONS = `
import platform
from importlib.metadata import version
print("Python", platform.python_version() + ",", ", ".join(f"{name} {version(name)}" for name in ("hud", "daytona", "asyncssh")))
`

async function isMade(): Promise<boolean> {
  if (!existsSync(marker)) return false
  const madeOf = z.array(z.string()).safeParse(JSON.parse(await readFile(marker, 'utf8')))
  return madeOf.success && madeOf.data.join() === REQUIREMENTS.join()
}

async function make(signal: AbortSignal, say: (line: string) => void): Promise<void> {
  const { stdout } = await execa('python3', ['-c', 'import sys; print(*sys.version_info[:2])'], {
    cancelSignal: signal,
  })
  const [major = 0, minor = 0] = stdout.trim().split(' ').map(Number)
  if (major !== OLDEST_PYTHON[0] || minor < OLDEST_PYTHON[1])
    throw new Error(`python3 is ${major}.${minor}, and it needs ${OLDEST_PYTHON.join('.')}`)
  say(`installing ${REQUIREMENTS.join(' and ')} into ${directory}: once, some minutes`)
  await rm(directory, { recursive: true, force: true })
  await mkdir(directory, { recursive: true })
  const run = (program: string, given: readonly string[]) =>
    execa(program, given, { cancelSignal: signal, timeout: INSTALL_MS, stdin: 'ignore' })
  await run('python3', ['-m', 'venv', directory])
  await run(python, [
    '-m',
    'pip',
    'install',
    '--quiet',
    '--retries',
    '2',
    '--disable-pip-version-check',
    ...REQUIREMENTS,
  ])
  await writeFile(marker, JSON.stringify(REQUIREMENTS))
}

/** pip's last line says what was wrong; what execa puts before it is the command. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const said = 'stderr' in error && typeof error.stderr === 'string' ? error.stderr.trim() : ''
  return said.split('\n').findLast(line => line !== '') ?? error.message
}
