import { readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import * as assert from 'uvu/assert'
import { systemClock } from '../../../src/clock.ts'
import { type Emulator, type EmulatorOptions, startEmulator } from '../../../src/emulator/index.ts'
import { callDaytona } from '../../../src/runtimes/daytona/account/call.ts'
import { openAccount } from '../../../src/runtimes/daytona/account/open-account.ts'
import { DaytonaRuntime } from '../../../src/runtimes/daytona/daytona-runtime.ts'
import type { DaytonaRuntimeOptions } from '../../../src/runtimes/daytona/options.ts'
import { hostProgram, openHostScene } from '../fixtures/host-scene.ts'

/** There from the start, at the provider as in the emulator. */
export const SNAPSHOT = 'daytonaio/sandbox'
export const COMMAND = 'troupe serve env.ts --host 0.0.0.0 --port 8765 --insecure'

export interface DaytonaScene {
  readonly emulator: Emulator
  readonly runtime: DaytonaRuntime
  makeRuntime(options?: DaytonaRuntimeOptions): DaytonaRuntime
  /** What exists in the emulator, and the sockets of tunnels on this machine. */
  leftovers(): readonly string[]
  end(): Promise<void>
}

/** An emulator whose sandboxes serve the environment of the fixtures, and a runtime that uses it. */
export async function openDaytonaScene(
  options: DaytonaRuntimeOptions = {},
  emulated: EmulatorOptions = {},
): Promise<DaytonaScene> {
  const host = await openHostScene()
  const emulator = await startEmulator({
    speed: 100,
    seed: 1,
    isolation: 'none',
    hostProgram,
    environmentPath: host.environmentPath,
    ...emulated,
  })
  const makeRuntime = (more: DaytonaRuntimeOptions = {}) =>
    new DaytonaRuntime(SNAPSHOT, {
      apiUrl: emulator.url,
      apiKey: emulator.apiKey,
      command: COMMAND,
      ...options,
      ...more,
    })
  return {
    emulator,
    runtime: makeRuntime(),
    makeRuntime,
    leftovers: () => [
      ...Array.from({ length: emulator.existing() }, () => 'a sandbox'),
      ...readdirSync(tmpdir()).filter(name => name.startsWith('troupe-reach-')),
    ],
    async end() {
      await emulator.close()
      await host.end()
    },
  }
}

/** Nothing may be left when `body` is done, unless it says so. */
export async function withScene(
  body: (scene: DaytonaScene) => Promise<void>,
  { options, emulated, left = 0 }: { options?: DaytonaRuntimeOptions; emulated?: EmulatorOptions; left?: number } = {},
): Promise<void> {
  const scene = await openDaytonaScene(options, emulated)
  try {
    await body(scene)
    await scene.runtime.close().catch(error => {
      if (left === 0) throw error
    })
    assert.is(scene.leftovers().length, left)
  } finally {
    await scene.runtime.close().catch(() => {}) // told above
    await scene.end()
  }
}

/** What the emulator has of a sandbox of ours. */
export function look(scene: DaytonaScene, name: string) {
  return withAccount(scene, account => callDaytona('look', () => account.sandboxes.getSandbox(name)))
}

export async function withAccount<Value>(
  { emulator }: Pick<DaytonaScene, 'emulator'>,
  body: (account: Awaited<ReturnType<typeof openAccount>>) => Promise<Value>,
): Promise<Value> {
  const account = await openAccount({ apiUrl: emulator.url, apiKey: emulator.apiKey, clock: systemClock })
  try {
    return await body(account)
  } finally {
    await account.release()
  }
}
