import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type Clock, systemClock } from '../../../../src/clock.ts'
import { type Emulator, type EmulatorOptions, startEmulator } from '../../../../src/emulator/index.ts'
import type { Account } from '../../../../src/runtimes/daytona/account.ts'
import { callDaytona } from '../../../../src/runtimes/daytona/call.ts'
import { openAccount } from '../../../../src/runtimes/daytona/open-account.ts'

/** A directory with these files in it, in folders where their names say so. */
export async function withTree<Value>(
  files: Readonly<Record<string, string>>,
  body: (directory: string) => Promise<Value>,
): Promise<Value> {
  const directory = await mkdtemp(join(tmpdir(), 'troupe-test-'))
  try {
    for (const [name, text] of Object.entries(files)) {
      await mkdir(dirname(join(directory, name)), { recursive: true })
      await writeFile(join(directory, name), text)
    }
    return await body(directory)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

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
