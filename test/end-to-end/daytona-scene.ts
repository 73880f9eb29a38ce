import * as assert from 'uvu/assert'
import { type Emulator, type EmulatorOptions, startEmulator } from '../../src/emulator/index.ts'
import { type Cli, type Scene, withScene } from './scene.ts'

/** What the emulator says of itself: every sandbox that exists, whatever listings leave out. */
export interface EmulatorState {
  readonly existing: number
  /** Members of pools that nobody has claimed. */
  readonly unclaimed: number
  readonly pools: number
}

/** A scene whose commands find an emulator, as a user's terminal does. */
export interface DaytonaScene {
  readonly scene: Scene
  readonly emulator: Emulator
  start(argv: readonly string[]): Cli
  run(argv: readonly string[]): ReturnType<Scene['run']>
  state(): Promise<EmulatorState>
}

/** There without a build. */
export const SNAPSHOT = 'daytonaio/sandbox'

/** An emulator in this process for the length of `body`. When it has ended, no process and no file may be left. */
export async function withDaytona(
  options: EmulatorOptions | ((scene: Scene) => EmulatorOptions),
  body: (daytona: DaytonaScene) => Promise<void>,
): Promise<void> {
  await withScene(async scene => {
    const problems: unknown[] = []
    const emulator = await startEmulator({
      speed: 20,
      seed: 1,
      onError: error => problems.push(error),
      ...(typeof options === 'function' ? options(scene) : options),
    })
    const { apiKey, url } = emulator
    const variables = { DAYTONA_API_URL: url, DAYTONA_API_KEY: apiKey }
    try {
      await body({
        scene,
        emulator,
        start: argv => scene.start(argv, variables),
        run: argv => scene.run(argv, variables),
        async state() {
          const headers = { authorization: `Bearer ${apiKey}` }
          const answer = await fetch(new URL('/emulator/state', url), { headers })
          return (await answer.json()) as EmulatorState
        },
      })
    } finally {
      await emulator.close()
    }
    assert.equal(problems, [])
    assert.equal(scene.leftovers(), [])
  })
}
