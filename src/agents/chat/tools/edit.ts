import { defineTool, type ToolResult } from './tool.ts'

export const edit = defineTool({
  name: 'edit',
  description: 'Replaces text in a file. oldString must stand there exactly once, unless replaceAll is set.',
  parameters: z =>
    z.object({
      filePath: z.string().min(1).describe('The file.'),
      oldString: z.string().describe('The text to replace, exactly as it is in the file.'),
      newString: z.string().describe('The text to put there.'),
      replaceAll: z.boolean().optional().describe('Replace it wherever it stands.'),
    }),
  async run({ filePath, oldString, newString, replaceAll = false }, { shell }) {
    if (oldString === '') return failed('oldString is empty; use write for a whole file')
    if (oldString === newString) return failed('oldString and newString are the same')
    // Taken apart and joined again: in a replacement a $ would mean something.
    const parts = (await shell.readFile(filePath)).split(oldString)
    const count = parts.length - 1
    if (count === 0) return failed('oldString not found')
    if (count > 1 && !replaceAll) return failed(`oldString occurs ${count} times; give more context or set replaceAll`)
    await shell.writeFile(filePath, parts.join(newString))
    return 'ok'
  },
})

function failed(why: string): ToolResult {
  return { type: 'failed', text: `error: ${why}` }
}
