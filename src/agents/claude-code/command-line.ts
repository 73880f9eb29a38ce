import { quote } from '../../quote.ts'
import type { ClaudeCodeSettings } from './config.ts'

/** What the shell exits with when the program is not there, as shells do. */
export const NOT_FOUND = 127

/**
 * The program, started in the workspace with what `toInput` gives it on stdin. Each line of its output is preceded by the sandbox's time in
 * seconds; the first line is that time alone.
 */
export function toCommandLine(settings: ClaudeCodeSettings): string {
  const { command, chosenModel, maxSteps, systemPrompt, disallowedTools } = settings
  const words = [command, '--print', '--verbose', '--output-format', 'stream-json']
  words.push('--permission-mode', 'bypassPermissions')
  if (chosenModel !== undefined) words.push('--model', chosenModel)
  if (maxSteps !== undefined) words.push('--max-turns', String(maxSteps))
  if (systemPrompt !== undefined) words.push('--append-system-prompt', systemPrompt)
  if (disallowedTools.length > 0) words.push('--disallowedTools', disallowedTools.join(','))
  return [
    'set -o pipefail',
    'export PATH="$HOME/.local/bin:$PATH"',
    `command -v ${quote(command)} >/dev/null || exit ${NOT_FOUND}`,
    // Variables come by stdin: on a command line, every process of the sandbox could read the key.
    'while IFS= read -r pair && [ -n "$pair" ]; do export "$pair"; done',
    'stamp() { printf "%s\\n" "$EPOCHREALTIME"; while IFS= read -r line; do printf "%s %s\\n" "$EPOCHREALTIME" "$line"; done; }',
    `${words.map(quote).join(' ')} | stamp`,
  ].join('\n')
}

/** Variables, a line each, then an empty line and the prompt. */
export function toInput(settings: ClaudeCodeSettings, key: string | undefined, prompt: string): string {
  const variables: Record<string, string> = {
    // It refuses to work without asking as root, unless it is told that this is what the machine is for.
    IS_SANDBOX: '1',
    DISABLE_AUTOUPDATER: '1',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    ANTHROPIC_BASE_URL: settings.baseUrl,
    ...(key === undefined ? {} : { ANTHROPIC_API_KEY: key }),
  }
  const lines = Object.entries(variables).map(([name, value]) => `${name}=${value}`)
  return `${lines.join('\n')}\n\n${prompt}`
}
