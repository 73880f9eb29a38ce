import { shellContract } from '../contracts/shell.ts'
import { openWorkspace } from '../environment/workspace/open-workspace.ts'
import { openServedShell } from './support/served-shell.ts'

shellContract('ssh/2', async () => {
  const opened = await openWorkspace()
  const shell = await opened.shell('ssh/2')
  return {
    shell,
    async close() {
      await shell.close()
      await opened.closeHost()
    },
  }
})

shellContract('ssh/2', () => openServedShell('ssh/2', 'websocket'), ', through a WebSocket')
