import { fileURLToPath } from 'node:url'
import { systemClock } from '../../src/clock.ts'
import { toSandboxId } from '../../src/ids.ts'
import { LocalRuntime, type LocalRuntimeOptions } from '../../src/runtimes/local.ts'
import type { Address } from '../../src/wire/address.ts'
import { makeControlClient } from '../../src/wire/client.ts'
import { openShell } from '../../src/wire/open-shell.ts'
import type { ControlSession } from '../../src/wire/session.ts'
import type { Shell } from '../../src/wire/shell.ts'

/** The calc environment's source. */
export const CALC = fileURLToPath(new URL('../../../environments/calc/env.ts', import.meta.url))

/** An environment, served as an engine on this machine serves it: a host process of its own. */
export interface Served {
  open(): Promise<ServedSession>
  close(): Promise<void>
}

/** One session as a rollout holds it, with the shell that its agent is given. */
export interface ServedSession {
  readonly control: ControlSession
  readonly address: Address
  readonly shell: Shell
  close(): Promise<void>
}

/** Rejects with `bwrap-missing` or `bwrap-unusable`, and what to do about it, where commands cannot be isolated. */
export async function serve(environment: string, options: LocalRuntimeOptions = {}): Promise<Served> {
  const runtime = new LocalRuntime(environment, options)
  const client = makeControlClient()
  let count = 0
  const close = async () => {
    await client.close()
    await runtime.close()
  }
  try {
    await runtime.preflight()
  } catch (error) {
    await close()
    throw error
  }
  return {
    close,
    async open() {
      count += 1
      const { signal } = new AbortController()
      const request = { id: toSandboxId(`sandbox-${count}`), task: undefined, labels: {}, prewarm: false, signal }
      const sandbox = await runtime.provision(request)
      const control = await client.connect(sandbox.address, { clock: systemClock, deadlineMs: 30_000 })
      const shell = await openShell(control, systemClock)
      return {
        control,
        address: sandbox.address,
        shell,
        async close() {
          await shell.close()
          await sandbox.dispose({ sessionEnded: await control.end() })
        },
      }
    },
  }
}
