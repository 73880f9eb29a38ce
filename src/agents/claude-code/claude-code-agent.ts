import { hideKey } from '../../models/request-names.ts'
import type { Agent, AgentContext, AgentStop } from '../agent.ts'
import { readKey } from '../chat/config.ts'
import { chatUnavailable, unauthorized } from '../chat/errors.ts'
import { promptText } from '../prompt.ts'
import { readAnswer } from '../read-answer.ts'
import { NOT_FOUND, toCommandLine, toInput } from './command-line.ts'
import { type ClaudeCodeSettings, parseClaudeCodeConfig } from './config.ts'
import { programFailed, programMissing, workFailed } from './errors.ts'
import { type ClaudeCodeResult, readOutput } from './events.ts'

const MAX_OUTPUT_BYTES = 32 * 1024 * 1024

/**
 * Claude Code's own program, run once in the sandbox over the workspace. The sandbox has to hold it and reach the service; the key goes in
 * with it, so that its commands can read the key. Its turns have no token ids. Throws `bad-agent-config` or `no-key`.
 */
export function makeClaudeCodeAgent(
  config: Readonly<Record<string, unknown>>,
  ports: { readonly env?: NodeJS.ProcessEnv } = {},
): Agent {
  const settings = parseClaudeCodeConfig(config, ports.env)
  const key = readKey(settings, ports.env)
  return { name: settings.name, run: context => runClaudeCode(context, settings, key) }
}

async function runClaudeCode(
  { prompt, returns, shell, signal, record }: AgentContext,
  settings: ClaudeCodeSettings,
  key: string | undefined,
): Promise<{ readonly answer: unknown; readonly stop: AgentStop }> {
  const words = promptText(prompt, { returns })
  const opened = await shell()
  const { exitCode, stdout, stderr } = await opened.exec(toCommandLine(settings), {
    stdin: toInput(settings, key, words),
    signal,
    maxOutputBytes: MAX_OUTPUT_BYTES,
  })
  const hide = (text: string) => hideKey(text, key)
  if (exitCode === NOT_FOUND && stdout === '') throw programMissing(settings.command, opened.cwd)
  const { turns, result } = readOutput(hide(stdout), settings.command)
  for (const turn of turns) record(turn)
  if (result === undefined) throw programFailed(settings.command, exitCode, hide(stderr).trim().slice(-500))
  const { answer, stop } = conclude(result, settings)
  return { answer: readAnswer(answer, returns), stop }
}

function conclude(
  { subtype, isError, text }: ClaudeCodeResult,
  settings: ClaudeCodeSettings,
): { readonly answer: string; readonly stop: AgentStop } {
  if (subtype === 'error_max_turns') return { answer: text, stop: 'max-steps' }
  if (!isError) return { answer: text, stop: 'done' }
  const { url, apiKeyVariable, command } = settings
  if (/invalid api key|authentication|\b40[13]\b/i.test(text))
    throw unauthorized(url, apiKeyVariable, /\b403\b/.test(text) ? 403 : 401, text.slice(0, 300))
  if (/^API Error|overloaded|rate limit|connection/i.test(text)) throw chatUnavailable(url, 1, text.slice(0, 300))
  throw workFailed(command, subtype, text.slice(0, 300))
}
