import { hasTag } from '../../errors.ts'
import type { CommandOptions, CommandResult } from '../../wire/shell.ts'
import type { Workspace } from '../workspace.ts'
import type { Score } from './score.ts'

/**
 * 1 if the command exits with 0 in the agent's workspace, else 0; a command that outlives `timeoutMs`, or finds the workspace fuller
 * than it may be, scores 0. It starts as every command does, without variables, aliases, background processes or files in the home
 * that the agent made. But it shares the workspace, and meets whatever the agent left there: where that matters, see `gradeCommand`, and
 * for code that is to be judged `gradePytest`.
 */
export async function commandStatus(
  workspace: Pick<Workspace, 'exec'>,
  command: string,
  options: CommandOptions = {},
): Promise<Score> {
  let result: CommandResult
  try {
    result = await workspace.exec(command, options)
  } catch (error) {
    if (hasTag(error, 'command-timeout')) return { score: 0, info: { timedOut: true, timeoutMs: options.timeoutMs } }
    if (hasTag(error, 'workspace-full')) return { score: 0, info: { workspaceFull: true } }
    throw error
  }
  const { exitCode, stdout, stderr } = result
  return { score: exitCode === 0 ? 1 : 0, info: { exitCode, stdout, stderr } }
}
