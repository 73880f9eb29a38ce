import { existsSync } from 'node:fs'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { execa } from 'execa'
import { z } from 'zod'
import { TroupeError, toErrorData } from '../../../src/errors.ts'
import { alone } from './alone.ts'

/**
 * What is compared with. Daytona's SDK for Python is held at the release of its SDK for JavaScript that this package uses; typer at one that HUD's
 * command line starts with, which it does not with later ones.
 */
const REQUIREMENTS = ['hud[daytona]==0.6.21', 'daytona==0.218.0', 'typer==0.25.1']
/** HUD asks for one of these. */
const PYTHONS = { oldest: [3, 11], tooNew: [3, 13] } as const
const CANDIDATES = ['python3', 'python3.12', 'python3.11']

const HERE = fileURLToPath(new URL('../../../../.cache/peers-venv', import.meta.url))
const INSTALL_MS = 600_000

/** The longest that making it may take, with the wait for somebody who is making it. */
export const PREPARE_HUD_MS = 2 * INSTALL_MS

/** A Python that has HUD's SDK. */
export interface HudPython {
  readonly program: string
  /** Of Python and of the packages that matter, for whoever reads the figures. */
  readonly versions: string
}

/**
 * The virtual environment, made when it is not there or holds something else: that takes minutes and the package index. One that was
 * left half made is made anew, and two who want it at once make one. Throws `hud-missing` with what is missing and what to do.
 */
export async function prepareHud(
  signal: AbortSignal,
  say: (line: string) => void,
  directory: string = HERE,
): Promise<HudPython> {
  const python = join(directory, 'bin', 'python')
  try {
    if (!(await isMade(directory))) {
      await mkdir(dirname(directory), { recursive: true })
      await alone(`${directory}.lock`, { signal, longestMs: INSTALL_MS }, async () => {
        if (!(await isMade(directory))) await make(directory, python, signal, say)
      })
    }
    const { stdout } = await execa(python, ['-c', VERSIONS], { cancelSignal: signal })
    return { program: python, versions: stdout.trim() }
  } catch (error) {
    throw new TroupeError({
      tag: 'hud-missing',
      message: `HUD's SDK for Python cannot be had: ${reasonOf(error)}`,
      cause: toErrorData(error),
    })
  }
}

const VERSIONS = `
import platform
from importlib.metadata import version
print("Python", platform.python_version() + ",", ", ".join(f"{name} {version(name)}" for name in ("hud", "daytona", "asyncssh")))
`

/** Written last: without it, or with another list in it, the directory is made anew. */
const markerOf = (directory: string) => join(directory, 'made-of.json')

async function isMade(directory: string): Promise<boolean> {
  const marker = markerOf(directory)
  if (!existsSync(marker)) return false
  const madeOf = z.array(z.string()).safeParse(JSON.parse(await readFile(marker, 'utf8')))
  return madeOf.success && madeOf.data.join() === REQUIREMENTS.join()
}

async function make(
  directory: string,
  python: string,
  signal: AbortSignal,
  say: (line: string) => void,
): Promise<void> {
  const base = await findPython(signal)
  say(`installing ${REQUIREMENTS.join(' and ')} into ${directory}: once, some minutes`)
  await rm(directory, { recursive: true, force: true })
  await mkdir(directory, { recursive: true })
  const run = (program: string, given: readonly string[]) =>
    execa(program, given, { cancelSignal: signal, timeout: INSTALL_MS, stdin: 'ignore' })
  await run(base, ['-m', 'venv', directory]).catch(error => {
    throw new Error(`${base} makes no virtual environments; on Debian install python3-venv (${lastLine(error)})`)
  })
  const install = ['-m', 'pip', 'install', '--quiet', '--retries', '2', '--disable-pip-version-check']
  await run(python, [...install, ...REQUIREMENTS]).catch(error => {
    throw new Error(
      `pip could not install ${REQUIREMENTS.join(' and ')}; it needs PyPI, or a mirror of it named by PIP_INDEX_URL (${lastLine(error)})`,
    )
  })
  await writeFile(markerOf(directory), JSON.stringify(REQUIREMENTS))
}

/** The first of those on the PATH that HUD runs on. */
async function findPython(signal: AbortSignal): Promise<string> {
  const seen: string[] = []
  for (const candidate of CANDIDATES) {
    const asked = await execa(candidate, ['-c', 'import sys; print(*sys.version_info[:2])'], {
      cancelSignal: signal,
      reject: false,
    })
    if (asked.exitCode !== 0) continue
    const [major = 0, minor = 0] = asked.stdout.trim().split(' ').map(Number)
    if (major === PYTHONS.oldest[0] && minor >= PYTHONS.oldest[1] && minor < PYTHONS.tooNew[1]) return candidate
    seen.push(`${candidate} is ${major}.${minor}`)
  }
  signal.throwIfAborted()
  const found = seen.length === 0 ? `none of ${CANDIDATES.join(', ')} is on the PATH` : seen.join(', ')
  throw new Error(
    `${found}. It wants Python ${PYTHONS.oldest.join('.')} or later, before ${PYTHONS.tooNew.join('.')}: install python3.12 or python3.11, with venv`,
  )
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** pip's last line says what was wrong; what execa puts before it is the command. */
function lastLine(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const said = 'stderr' in error && typeof error.stderr === 'string' ? error.stderr.trim() : ''
  return said.split('\n').findLast(line => line !== '') ?? error.message
}
