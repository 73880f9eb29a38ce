import { hasTag } from '../../errors.ts'
import type { CommandOptions, CommandResult } from '../../wire/shell.ts'
import type { Workspace } from '../workspace.ts'
import type { Score } from './score.ts'

/**
 * 1 if the command exits with 0 in the agent's workspace, else 0; a command that outlives `timeoutMs` scores 0. The agent
 * shares that workspace, and can have left behind whatever the command finds: for code that is to be judged, see `gradePytest`.
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
    if (!hasTag(error, 'command-timeout')) throw error
    return { score: 0, info: { timedOut: true, timeoutMs: options.timeoutMs } }
  }
  const { exitCode, stdout, stderr } = result
  return { score: exitCode === 0 ? 1 : 0, info: { exitCode, stdout, stderr } }
}
