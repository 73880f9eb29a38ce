import { hasTag } from '../../errors.ts'
import type { Shell } from '../../wire/shell.ts'
import { DEFAULT_TIMEOUT_MS } from '../chat/tools/bash.ts'
import { cutMiddle, MAX_OUTPUT_BYTES } from '../chat/tools/bound.ts'
import type { ToolResult } from '../chat/tools/index.ts'
import type { ShellCall, ShellOutput } from './sdk.ts'

/** What a call of the native shell gave: for people as text, for the service in its own form. */
export interface ShellResult extends ToolResult {
  readonly output: readonly ShellOutput[]
}

/** Runs a call's commands one after the other, each a shell of its own. Rejects only with the shell gone, or aborted. */
export async function runShellCall(
  { commands, timeout_ms: timeoutMs, max_output_length: limit }: ShellCall['action'],
  shell: Shell,
  signal: AbortSignal,
): Promise<ShellResult> {
  const output: ShellOutput[] = []
  for (const command of commands) output.push(await runOne(command))
  const isDone = output.every(({ outcome }) => outcome.type === 'exit' && outcome.exit_code === 0)
  return { type: isDone ? 'done' : 'failed', text: output.map(toText).join('\n'), output }

  async function runOne(command: string): Promise<ShellOutput> {
    const cut = (text: string) => cutMiddle(text, limit ?? undefined)
    try {
      const { exitCode, stdout, stderr } = await shell.exec(command, {
        timeoutMs: timeoutMs ?? DEFAULT_TIMEOUT_MS,
        signal,
        maxOutputBytes: MAX_OUTPUT_BYTES,
      })
      return { stdout: cut(stdout), stderr: cut(stderr), outcome: { type: 'exit', exit_code: exitCode } }
    } catch (error) {
      if (hasTag(error, 'command-timeout')) return { stdout: '', stderr: error.message, outcome: { type: 'timeout' } }
      for (const tag of ['command-too-long', 'workspace-full'])
        if (hasTag(error, tag)) return { stdout: '', stderr: error.message, outcome: { type: 'exit', exit_code: 1 } }
      throw error
    }
  }
}

function toText({ stdout, stderr, outcome }: ShellOutput): string {
  const text = `${stdout}${stderr}`
  if (outcome.type === 'timeout' || outcome.exit_code === 0) return text
  return `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}exit status ${outcome.exit_code}`
}
