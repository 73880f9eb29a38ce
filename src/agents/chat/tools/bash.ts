import { quote } from '../../../quote.ts'
import { cutMiddle, MAX_OUTPUT_BYTES } from './bound.ts'
import { defineTool } from './tool.ts'

/** A command that hangs costs this, not the rollout's whole time. */
export const DEFAULT_TIMEOUT_MS = 120_000

export const bash = defineTool({
  name: 'bash',
  description: 'Runs a command with bash in the workspace and gives its output.',
  parameters: z =>
    z.object({
      command: z.string().min(1).describe('The command.'),
      timeout: z.int().min(1).optional().describe(`Milliseconds it may take, ${DEFAULT_TIMEOUT_MS} by default.`),
      workdir: z.string().optional().describe('Where to run it; the workspace by default.'),
    }),
  async run({ command, timeout = DEFAULT_TIMEOUT_MS, workdir }, { shell, signal }) {
    const whole = workdir === undefined || workdir === '' ? command : `cd -- ${quote(workdir)} && {\n${command}\n}`
    const { exitCode, stdout, stderr } = await shell.exec(whole, {
      timeoutMs: timeout,
      signal,
      maxOutputBytes: MAX_OUTPUT_BYTES,
    })
    const output = cutMiddle(`${stdout}${stderr}`)
    if (exitCode === 0) return output
    const gap = output === '' || output.endsWith('\n') ? '' : '\n'
    return { type: 'failed', text: `${output}${gap}exit status ${exitCode}` }
  },
})
