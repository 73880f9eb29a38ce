import { MAX_RESULT_CHARACTERS } from './bound.ts'
import { defineTool } from './tool.ts'

const DEFAULT_LINES = 2_000

export const read = defineTool({
  name: 'read',
  description: 'Gives the text of a file, or the lines of it that are asked for.',
  parameters: z =>
    z.object({
      filePath: z.string().min(1).describe('The file.'),
      offset: z.int().min(0).optional().describe('The first line, counted from 1.'),
      limit: z.int().min(1).optional().describe(`How many lines, ${DEFAULT_LINES} by default.`),
    }),
  async run({ filePath, offset = 1, limit }, { shell }) {
    const lines = toLines(await shell.readFile(filePath))
    const start = Math.max(offset, 1) - 1
    if (start > 0 && start >= lines.length)
      return {
        type: 'failed',
        text: `error: offset ${offset} is past the end: the file has ${lines.length} line${lines.length === 1 ? '' : 's'}`,
      }
    const asked = lines.slice(start, start + (limit ?? DEFAULT_LINES))
    const { text, shown } = fit(asked)
    const isCut = shown < asked.length || (limit === undefined && start + shown < lines.length)
    if (!isCut) return text
    return `${endLine(text)}[lines ${start + 1} to ${start + shown} of ${lines.length}; go on with offset ${start + shown + 1}]`
  },
})

/** Each with its own end; the last one may have none. */
function toLines(text: string): readonly string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? []
}

/** Whole lines, as many as a model is shown at once; one line that alone is more is cut. */
function fit(lines: readonly string[]): { readonly text: string; readonly shown: number } {
  let characters = 0
  let shown = 0
  for (const line of lines) {
    if (characters + line.length > MAX_RESULT_CHARACTERS) break
    characters += line.length
    shown += 1
  }
  const [first = ''] = lines
  if (shown > 0 || first === '') return { text: lines.slice(0, shown).join(''), shown }
  return {
    text: `${first.slice(0, MAX_RESULT_CHARACTERS)}\n[${first.length - MAX_RESULT_CHARACTERS} characters of this line left out]\n`,
    shown: 1,
  }
}

function endLine(text: string): string {
  return text.endsWith('\n') ? text : `${text}\n`
}
