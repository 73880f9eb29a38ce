/** The server's process of the wire bench: an environment whose tasks do nothing. Answers every message with the CPU time it has used, in µs. */
import type { ServedSession } from '../src/environment/served.ts'
import { serveControl } from '../src/environment/server.ts'

const bindings = [
  { name: 'shell', protocol: 'ssh/2', url: 'ssh://agent@127.0.0.1:2222', params: { user: 'agent', shell: 'bash' } },
  { name: 'exec', protocol: 'exec/1', url: 'exec://127.0.0.1:2222', params: { cwd: '/workspace' } },
]

function openNoOp(): ServedSession {
  let hasTask = false
  return {
    bindings,
    get hasTask() {
      return hasTask
    },
    async start() {
      hasTask = true
      return { prompt: 'Repair calc.py, then say that it is done.' }
    },
    async grade() {
      hasTask = false
      return { score: 1, content: 'graded' }
    },
    async cancel() {
      hasTask = false
    },
    async close() {},
  }
}

const server = await serveControl(
  {
    name: 'no-op',
    version: '0',
    tasks: () => [{ id: 'no-op', description: 'nothing' }],
    checkTask: () => [],
    openSession: async () => openNoOp(),
    connectCapability: () => Promise.reject(new Error('there is none')),
    close: async () => {},
  },
  { listen: { kind: 'tcp', host: '127.0.0.1', port: 0 } },
)

process.on('message', () => {
  const { user, system } = process.cpuUsage()
  process.send?.({ cpuMicros: user + system })
})
process.once('disconnect', () => server.close())
process.send?.({ address: server.address })
