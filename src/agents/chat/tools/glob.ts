import { quote } from '../../../quote.ts'
import { DEFAULT_TIMEOUT_MS } from './bash.ts'
import { cutMiddle, MAX_OUTPUT_BYTES } from './bound.ts'
import { defineTool } from './tool.ts'

export const glob = defineTool({
  name: 'glob',
  description: 'Lists the files whose names match a pattern, one path a line. ** stands for any number of folders.',
  parameters: z =>
    z.object({
      pattern: z
        .string()
        .min(1)
        .describe('The pattern, such as **/*.py. Without a slash it is looked for in every folder.'),
      path: z.string().optional().describe('Where to look; the workspace by default.'),
    }),
  async run({ pattern, path = '' }, { shell, signal }) {
    const base = path === '' || path === '.' ? '' : path.replace(/\/*$/, '/')
    const whole = pattern.includes('/') ? pattern : `**/${pattern}`
    const patterns = expandBraces(whole).slice(0, MAX_ALTERNATIVES).map(quote).join(' ')
    // An unquoted variable is matched against file names, and is not otherwise interpreted. bash leaves hidden files out.
    const command = [
      'shopt -s globstar nullglob; IFS=; LC_ALL=C',
      `base=${quote(base)}`,
      `for pattern in ${patterns}; do for file in "$base"$pattern; do [ -d "$file" ] || printf '%s\\n' "$file"; done; done`,
    ].join('\n')
    const options = { signal, timeoutMs: DEFAULT_TIMEOUT_MS, maxOutputBytes: MAX_OUTPUT_BYTES }
    const { exitCode, stdout, stderr } = await shell.exec(command, options)
    if (stdout !== '') return cutMiddle([...new Set(stdout.trimEnd().split('\n'))].join('\n'))
    if (exitCode === 0) return 'no match'
    return { type: 'failed', text: `error: ${cutMiddle(stderr.trim())}` }
  },
})

const MAX_ALTERNATIVES = 64

/** `a.{ts,js}` as `a.ts` and `a.js`: bash expands braces before variables, and so not in them. */
function expandBraces(pattern: string): readonly string[] {
  const [found, before = '', inner = '', after = ''] = /^([^{]*)\{([^{}]*,[^{}]*)\}(.*)$/s.exec(pattern) ?? []
  if (found === undefined) return [pattern]
  return inner.split(',').flatMap(choice => expandBraces(`${before}${choice}${after}`))
}
