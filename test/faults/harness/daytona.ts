import * as assert from 'uvu/assert'
import { type Emulator, startEmulator } from '../../../src/emulator/index.ts'
import { DaytonaRuntime } from '../../../src/runtimes/daytona/daytona-runtime.ts'
import type { DaytonaRuntimeOptions } from '../../../src/runtimes/daytona/options.ts'
import type { FaultScene } from './scene.ts'

/** There without a build. */
const SNAPSHOT = 'daytonaio/sandbox'
const COMMAND = 'troupe serve env.ts --host 0.0.0.0 --port 8765'

export interface Cloud {
  readonly emulator: Emulator
  makeRuntime(options?: DaytonaRuntimeOptions): DaytonaRuntime
  /** Somebody deletes every sandbox of the account. Gives how many there were. */
  loseAll(): Promise<number>
}

/** An account at the emulator whose sandboxes serve the scene's environment. None of them may be left. */
export async function withCloud<Value>(
  scene: FaultScene,
  seed: number,
  body: (cloud: Cloud) => Promise<Value>,
): Promise<Value> {
  const problems: unknown[] = []
  const emulator = await startEmulator({
    speed: 100,
    seed,
    isolation: 'none',
    environmentPath: scene.environment,
    onError: error => problems.push(error),
  })
  const { apiKey, url } = emulator
  const ask = async (method: string, path: string): Promise<unknown> => {
    const answer = await fetch(`${url}${path}`, { method, headers: { authorization: `Bearer ${apiKey}` } })
    return answer.json()
  }
  try {
    const value = await body({
      emulator,
      makeRuntime: options =>
        new DaytonaRuntime(SNAPSHOT, { apiUrl: url, apiKey, command: COMMAND, startDeadlineMs: 20_000, ...options }),
      async loseAll() {
        const { items } = (await ask('GET', '/sandbox?limit=200')) as {
          readonly items: readonly { readonly id: string }[]
        }
        await Promise.all(items.map(({ id }) => ask('DELETE', `/sandbox/${id}`)))
        return items.length
      },
    })
    assert.is(emulator.existing(), 0, 'no sandbox is left')
    return value
  } finally {
    await emulator.close()
    assert.equal(problems, [])
  }
}
