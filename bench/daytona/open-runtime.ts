import { DaytonaRuntime } from '../../src/runtimes/daytona/daytona-runtime.ts'
import { toSandboxName } from '../../src/runtimes/daytona/labels.ts'
import type { Runtime } from '../../src/runtimes/runtime.ts'
import type { Cell } from './level.ts'
import type { EmulatorPlace } from './processes.ts'

/** The snapshot that every account has. What it serves is the emulator's choice: see `emulator-process.ts`. */
const SNAPSHOT = 'daytonaio/sandbox'
const COMMAND = 'troupe serve environments/noop.ts --host 0.0.0.0 --port 8765'

/** The runtime under our client, and what it calls a sandbox at the provider. */
export function openRuntime({ transport }: Cell, { url, apiKey }: EmulatorPlace): Runtime {
  return new DaytonaRuntime(SNAPSHOT, { apiUrl: url, apiKey, command: COMMAND, transport })
}

export const toProviderName = toSandboxName
