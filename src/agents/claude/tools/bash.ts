import { quote } from '../../../quote.ts'
import { DEFAULT_TIMEOUT_MS } from '../../chat/tools/bash.ts'
import { cutMiddle, MAX_OUTPUT_BYTES } from '../../chat/tools/bound.ts'
import { defineTool, type Tool } from '../../chat/tools/tool.ts'

/** Stands before the directory that a command ended in, at the end of its stderr. */
const MARK = '\n\u0001cwd='

/**
 * What `bash_20250124` does here. The model knows it as one session that goes on: the directory is kept from call to call; each call is a
 * shell of its own, so that a command that hangs costs that call and nothing else.
 */
export function makeBash(): Tool {
  let directory: string | undefined
  return defineTool({
    name: 'bash',
    description: 'Runs a command with bash in the workspace; the directory is kept between calls.',
    parameters: z => z.object({ command: z.string().min(1).optional(), restart: z.boolean().optional() }),
    async run({ command, restart }, { shell, signal }) {
      if (restart === true) {
        directory = undefined
        return 'the shell was started anew'
      }
      if (command === undefined) return { type: 'malformed', text: 'error: command: is missing' }
      const limits = { timeoutMs: DEFAULT_TIMEOUT_MS, signal, maxOutputBytes: MAX_OUTPUT_BYTES }
      const { exitCode, stdout, stderr } = await shell.exec(wrap(command, directory), limits)
      const { text: errors, endedIn } = splitMark(stderr)
      directory = endedIn ?? directory
      const output = cutMiddle(`${stdout}${errors}`)
      if (exitCode === 0) return output
      const gap = output === '' || output.endsWith('\n') ? '' : '\n'
      return { type: 'failed', text: `${output}${gap}exit status ${exitCode}` }
    },
  })
}

/** A trap tells where the command ended, `exit` in it or not. A directory that is gone by the next call is left for the workspace. */
function wrap(command: string, directory: string | undefined): string {
  const tell = `trap 'printf "\\n\\001cwd=%s" "$PWD" >&2' EXIT`
  const enter = directory === undefined ? '' : `cd -- ${quote(directory)} 2>/dev/null\n`
  return `${tell}\n${enter}${command}\n`
}

function splitMark(stderr: string): { readonly text: string; readonly endedIn: string | undefined } {
  const at = stderr.lastIndexOf(MARK)
  if (at < 0) return { text: stderr, endedIn: undefined }
  return { text: stderr.slice(0, at), endedIn: stderr.slice(at + MARK.length) }
}
