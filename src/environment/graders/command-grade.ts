import { hasTag } from '../../errors.ts'
import type { Workspace } from '../workspace.ts'
import type { Score } from './score.ts'

/** What `gradeCommand` runs, on which files. */
export interface CommandGrade {
  readonly workspace: Pick<Workspace, 'read' | 'runClean'>
  /** Run by bash, without its start-up files. */
  readonly command: string
  /** The files of the agent's that count, by their paths in the workspace. They are copied as text; what is missing there, or no plain file, is missing. */
  readonly take: readonly string[]
  /** The judge's own files, which win over the agent's of the same name. */
  readonly files?: ReadonlyMap<string, string | Uint8Array>
  /** Default 10,000; a command that takes longer scores 0. */
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
}

const BASH = '/bin/bash'
const DEFAULT_TIMEOUT_MS = 10_000
/** Files together, so that many can be graded at once. */
const MAX_CHARACTERS = 8 << 20
const ENVIRONMENT = { PATH: '/usr/bin:/bin', HOME: '/tmp', LANG: 'C.UTF-8', PYTHONDONTWRITEBYTECODE: '1' }

/**
 * 1 if the command exits with 0, else 0, as `commandStatus`; but it runs in a fresh directory, isolated, that holds only the files
 * that are taken and the judge's. No edited test, conftest, setting, false interpreter or module of a standard name is near it. Where
 * the command itself runs what the agent wrote, that code can still end it with 0: for Python see `gradePytest`.
 */
export async function gradeCommand(grade: CommandGrade): Promise<Score> {
  const { workspace, command, timeoutMs = DEFAULT_TIMEOUT_MS, signal } = grade
  const files = await takeFiles(grade)
  try {
    const { exitCode, stdout, stderr } = await workspace.runClean({
      argv: [BASH, '--noprofile', '--norc', '-c', command],
      files,
      env: ENVIRONMENT,
      collect: [],
      timeoutMs,
      ...(signal === undefined ? {} : { signal }),
    })
    return { score: exitCode === 0 ? 1 : 0, info: { exitCode, stdout, stderr } }
  } catch (error) {
    if (!hasTag(error, 'command-timeout')) throw error
    return { score: 0, info: { timedOut: true, timeoutMs } }
  }
}

async function takeFiles({
  workspace,
  take,
  files = new Map(),
}: CommandGrade): Promise<Map<string, string | Uint8Array>> {
  const taken = new Map<string, string | Uint8Array>()
  let characters = 0
  for (const path of take) {
    const text = await readTaken(workspace, path)
    characters += text?.length ?? 0
    if (text !== undefined && characters <= MAX_CHARACTERS) taken.set(path, text)
  }
  for (const [path, content] of files) taken.set(path, content)
  return taken
}

async function readTaken(workspace: CommandGrade['workspace'], path: string): Promise<string | undefined> {
  try {
    return await workspace.read(path)
  } catch (error) {
    if (['file-not-read', 'path-refused', 'file-too-large'].some(tag => hasTag(error, tag))) return undefined
    throw error
  }
}
