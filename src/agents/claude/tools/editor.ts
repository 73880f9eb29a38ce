import type { z } from 'zod'
import { quote } from '../../../quote.ts'
import type { Shell } from '../../../wire/shell.ts'
import { DEFAULT_TIMEOUT_MS } from '../../chat/tools/bash.ts'
import { cutMiddle, MAX_OUTPUT_BYTES } from '../../chat/tools/bound.ts'
import { defineTool, type ToolContext, type ToolResult } from '../../chat/tools/tool.ts'
import type { Zod } from '../../schema.ts'

const parameters = (z: Zod) =>
  z.object({
    command: z.enum(['view', 'create', 'str_replace', 'insert']),
    path: z.string().min(1),
    view_range: z.array(z.int()).length(2).optional(),
    file_text: z.string().optional(),
    old_str: z.string().optional(),
    new_str: z.string().optional(),
    insert_line: z.int().min(0).optional(),
    insert_text: z.string().optional(),
  })
type Given = z.output<ReturnType<typeof parameters>>

/** What `text_editor_20250728` does here, over the workspace's files. */
export const editor = defineTool({
  name: 'str_replace_based_edit_tool',
  description: 'Views, creates and edits files.',
  parameters,
  async run(given, context) {
    switch (given.command) {
      case 'view':
        return view(given, context)
      case 'create':
        return create(given, context.shell)
      case 'str_replace':
        return replace(given, context.shell)
      case 'insert':
        return insert(given, context.shell)
    }
  },
})

async function view({ path, view_range: range }: Given, { shell, signal }: ToolContext): Promise<string | ToolResult> {
  const listed = await shell.exec(LIST.replaceAll('PATH', quote(path)), {
    signal,
    timeoutMs: DEFAULT_TIMEOUT_MS,
    maxOutputBytes: MAX_OUTPUT_BYTES,
  })
  if (listed.exitCode === 0) return cutMiddle(listed.stdout)
  const lines = (await shell.readFile(path)).split('\n')
  const [from = 1, asked = -1] = range ?? []
  const to = asked === -1 ? lines.length : asked
  if (from < 1 || from > lines.length || to < from)
    return failed(`view_range [${from}, ${asked}] is not within the ${lines.length} lines of ${path}`)
  const numbered = lines.slice(from - 1, to).map((line, index) => `${String(from + index).padStart(6)}\t${line}`)
  return cutMiddle(numbered.join('\n'))
}

/** Fails where it is no directory; two levels deep and nothing hidden, as the model expects it. */
const LIST = `[ -d PATH ] && find PATH -maxdepth 2 -not -path '*/.*' | LC_ALL=C sort`

async function create({ path, file_text: text }: Given, shell: Shell): Promise<string | ToolResult> {
  if (text === undefined) return missing('file_text')
  await shell.writeFile(path, text)
  return `${path} was written`
}

async function replace(given: Given, shell: Shell): Promise<string | ToolResult> {
  const { path, old_str: before, new_str: after = '' } = given
  if (before === undefined || before === '') return missing('old_str')
  // Taken apart and joined again: in a replacement a $ would mean something.
  const parts = (await shell.readFile(path)).split(before)
  const count = parts.length - 1
  if (count === 0) return failed(`old_str does not occur in ${path}`)
  if (count > 1) return failed(`old_str occurs ${count} times in ${path}; give more of what is around it`)
  await shell.writeFile(path, parts.join(after))
  return `${path} was edited`
}

async function insert(given: Given, shell: Shell): Promise<string | ToolResult> {
  // Earlier releases of the tool called the text new_str.
  const { path, insert_line: line, insert_text: text = given.new_str } = given
  if (line === undefined) return missing('insert_line')
  if (text === undefined) return missing('insert_text')
  const lines = (await shell.readFile(path)).split('\n')
  if (line > lines.length) return failed(`insert_line ${line} is past the ${lines.length} lines of ${path}`)
  lines.splice(line, 0, ...text.replace(/\n$/, '').split('\n'))
  await shell.writeFile(path, lines.join('\n'))
  return `${path} was edited`
}

function failed(why: string): ToolResult {
  return { type: 'failed', text: `error: ${why}` }
}

function missing(name: string): ToolResult {
  return { type: 'malformed', text: `error: ${name}: is missing` }
}
