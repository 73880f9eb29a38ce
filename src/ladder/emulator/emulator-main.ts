/** The emulator's process: its CPU time is its own, and it ends with its parent. */
import { startEmulator } from '../../emulator/index.ts'
import { hide } from '../../redact.ts'
import type { EmulatorSettings } from '../ports.ts'
import type { EmulatorCalls } from '../process/calls.ts'
import { serveCalls } from '../process/child.ts'
import { LADDER_LIMITS, LADDER_QUOTA } from './account.ts'

const settings: EmulatorSettings = JSON.parse(process.argv[2] ?? '{}')

const starting = startEmulator({
  ...settings,
  limits: LADDER_LIMITS,
  quota: LADDER_QUOTA,
  onError: error => process.stderr.write(`emulator: ${hide(error instanceof Error ? error.message : String(error))}\n`),
})
starting.catch(() => {}) // told with the first call

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

serveCalls(calls, async () => {
  const emulator = await starting.catch(() => undefined)
  await emulator?.close()
})
