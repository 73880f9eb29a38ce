import { systemClock } from '../../../src/clock.ts'
import { Environment } from '../../../src/environment/environment.ts'
import { serveEnvironment } from '../../../src/environment/serve-environment.ts'
import { serveControl } from '../../../src/environment/server.ts'
import { makeWorkspaceHost } from '../../../src/environment/workspace/index.ts'
import { makeControlClient } from '../../../src/wire/client.ts'
import { openShell } from '../../../src/wire/open-shell.ts'
import type { Shell } from '../../../src/wire/shell.ts'
import type { ShellUnderTest } from '../../contracts/shell.ts'
import { reach, type Transport } from './transport.ts'

/** A shell as an agent has it: of a session with a served environment, through `tunnel.open`. */
export async function openServedShell(protocol: Shell['protocol'], transport: Transport): Promise<ShellUnderTest> {
  const served = serveEnvironment(new Environment('shells', { version: '1', workspace: {} }), makeWorkspaceHost())
  const server = await serveControl(served, { listen: { kind: 'tcp', host: '127.0.0.1', port: 0 } })
  const client = makeControlClient()
  const session = await client.connect(reach(server.address, transport), { clock: systemClock, deadlineMs: 10_000 })
  const bindings = session.bindings.filter(binding => binding.protocol === protocol)
  const shell = await openShell(
    { env: session.env, bindings, openTunnel: (name, signal) => session.openTunnel(name, signal) },
    systemClock,
  )
  return {
    shell,
    async close() {
      await shell.close()
      await session.end()
      await client.close()
      await server.close()
      await served.close()
    },
  }
}
