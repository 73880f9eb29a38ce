/** The emulator's process: its CPU time is its own, and it ends with its parent. */
import { fileURLToPath } from 'node:url'
import { startEmulator } from '../../src/emulator/index.ts'
import { serveCalls } from './child.ts'
import type { EmulatorCalls, EmulatorSettings } from './processes.ts'

const { seed, limits }: EmulatorSettings = JSON.parse(process.argv[2] ?? '{}')
const environmentPath = fileURLToPath(new URL('../engine/noop-env.js', import.meta.url))

const starting = startEmulator({
  seed,
  limits,
  environmentPath,
  onError: error => process.stderr.write(`emulator: ${error instanceof Error ? error.message : error}\n`),
})

const calls: EmulatorCalls = {
  async place() {
    const { url, apiKey, sshPort } = await starting
    return { url, apiKey, sshPort }
  },
  async usage() {
    const { user, system } = process.cpuUsage()
    const { counts } = await starting
    return { cpuMs: (user + system) / 1_000, created: counts.created }
  },
}

serveCalls(calls, async () => (await starting).close())
