import { quote } from '../../../quote.ts'
import { DEFAULT_TIMEOUT_MS } from './bash.ts'
import { cutMiddle, MAX_OUTPUT_BYTES } from './bound.ts'
import { defineTool } from './tool.ts'

export const grep = defineTool({
  name: 'grep',
  description: 'Searches files for a regular expression and gives each line that matches as path:line:text.',
  parameters: z =>
    z.object({
      pattern: z.string().min(1).describe('The extended regular expression.'),
      path: z.string().optional().describe('The folder or file to search; the workspace by default.'),
      include: z.string().optional().describe('Only files whose names match this, such as *.py.'),
    }),
  async run({ pattern, path = '', include = '' }, { shell, signal }) {
    const words = ['grep', '-rnHIE', '--exclude-dir=.git']
    if (include !== '') words.push(`--include=${quote(include)}`)
    words.push('-e', quote(pattern), '--')
    if (path !== '' && path !== '.') words.push(quote(path))
    // In the order of their paths, which that of a directory need not be.
    const command = `set -o pipefail; ${words.join(' ')} | LC_ALL=C sort -t: -k1,1 -k2,2n`
    const options = { signal, timeoutMs: DEFAULT_TIMEOUT_MS, maxOutputBytes: MAX_OUTPUT_BYTES }
    const { exitCode, stdout, stderr } = await shell.exec(command, options)
    if (stdout !== '') return cutMiddle(stdout.trimEnd())
    if (exitCode <= 1) return 'no match'
    return { type: 'failed', text: `error: ${cutMiddle(stderr.trim())}` }
  },
})
