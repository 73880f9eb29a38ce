import { shellContract } from '../contracts/shell.ts'
import { openWorkspace } from '../environment/workspace/open-workspace.ts'

shellContract('exec/1', async () => {
  const opened = await openWorkspace()
  const shell = await opened.shell('exec/1')
  return {
    shell,
    async close() {
      await shell.close()
      await opened.closeHost()
    },
  }
})
