import { defineTool } from './tool.ts'

export const write = defineTool({
  name: 'write',
  description: 'Makes a file with this content, or replaces all of it.',
  parameters: z =>
    z.object({
      filePath: z.string().min(1).describe('The file.'),
      content: z.string().describe('Its whole text.'),
    }),
  async run({ filePath, content }, { shell }) {
    await shell.writeFile(filePath, content)
    return 'ok'
  },
})
