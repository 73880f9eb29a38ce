import { type Clock, systemClock } from '../../../../src/clock.ts'
import { type Emulator, type EmulatorOptions, startEmulator } from '../../../../src/emulator/index.ts'
import type { Account } from '../../../../src/runtimes/daytona/account/account.ts'
import { callDaytona } from '../../../../src/runtimes/daytona/account/call.ts'
import { openAccount } from '../../../../src/runtimes/daytona/account/open-account.ts'

export const open = (emulator: Emulator, region?: string, clock: Clock = systemClock): Promise<Account> =>
  openAccount({ apiUrl: emulator.url, apiKey: emulator.apiKey, region, clock })

/** An account on an emulator of its own, where a build takes three quarters of a second. */
export async function withAccount(
  body: (account: Account, emulator: Emulator) => Promise<void>,
  options?: EmulatorOptions,
) {
  const emulator = await startEmulator({ speed: 100, seed: 1, isolation: 'none', ...options })
  const account = await open(emulator)
  try {
    await body(account, emulator)
  } finally {
    await account.release()
    await emulator.close()
  }
}

/** Asks for one that is built from this text alone, and does not wait. */
export function makeSnapshot(account: Account, name: string, dockerfileContent: string) {
  return callDaytona('make', () => account.snapshots.createSnapshot({ name, buildInfo: { dockerfileContent } }))
}

/** The test's own deadline is the limit. */
export async function untilState(account: Account, name: string, state: string): Promise<void> {
  for (;;) {
    const { data } = await account.snapshots.getSnapshot(name)
    if (data.state === state) return
  }
}
