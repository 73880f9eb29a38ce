import { shellContract } from '../contracts/shell.ts'
import { openWorkspace } from '../environment/workspace/open-workspace.ts'
import { openServedShell } from './support/served-shell.ts'

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

shellContract('exec/1', () => openServedShell('exec/1', 'websocket'), ', through a WebSocket')
