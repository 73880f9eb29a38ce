import { readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import * as assert from 'uvu/assert'
import { sleep, systemClock } from '../../../src/clock.ts'
import { makeFasterClock } from '../../../src/emulator/faster-clock.ts'
import { DockerRuntime } from '../../../src/runtimes/docker/docker-runtime.ts'
import { readEngineAddress } from '../../../src/runtimes/docker/engine/address.ts'
import { type Engine, openEngine } from '../../../src/runtimes/docker/engine/engine.ts'
import type { DockerRuntimeOptions } from '../../../src/runtimes/docker/options.ts'
import { type HostScene, openHostScene } from '../fixtures/host-scene.ts'
import { type StandIn, startStandIn } from './engine-stand-in.ts'

export interface DockerScene {
  readonly standIn: StandIn
  readonly host: HostScene
  readonly runtime: DockerRuntime
  makeRuntime(options?: DockerRuntimeOptions): DockerRuntime
  openEngine(): Promise<Engine>
  /** Containers of the engine, and processes of this machine that were in one. */
  leftovers(): readonly string[]
  end(): Promise<void>
}

/** For engines in trouble: what is waited for passes so much faster, and an environment has as long to start as ever. */
export const FAST: DockerRuntimeOptions = { clock: makeFasterClock(systemClock, 20), startDeadlineMs: 600_000 }

/** A stand-in for an engine, whose image `environment` serves the environment of the fixtures, and a runtime that uses it. */
export async function openDockerScene(options: DockerRuntimeOptions = {}): Promise<DockerScene> {
  const host = await openHostScene()
  const standIn = await startStandIn(host.environmentPath)
  const makeRuntime = (more: DockerRuntimeOptions = {}) => {
    const source = more.dockerfile === undefined ? { image: 'environment' } : {}
    return new DockerRuntime({ host: standIn.host, ...source, ...options, ...more })
  }
  return {
    standIn,
    host,
    runtime: makeRuntime(),
    makeRuntime,
    openEngine: () => openEngine(readEngineAddress(standIn.host, {}), systemClock),
    leftovers: () => [
      ...[...standIn.containers.values()].map(({ name, state }) => `container ${name}, ${state}`),
      ...host.leftovers(),
    ],
    async end() {
      await standIn.close()
      const files = readdirSync(tmpdir())
      await host.end()
      // The scene's own temporary directory has had all that was made meanwhile.
      assert.equal(files.filter(name => name.startsWith('troupe-')).sort(), [])
    },
  }
}

/** Nothing may be left when `body` is done, unless it says so. */
export async function withScene(
  body: (scene: DockerScene) => Promise<void>,
  { options, left = [] }: { options?: DockerRuntimeOptions; left?: readonly string[] } = {},
): Promise<void> {
  const scene = await openDockerScene(options)
  try {
    await body(scene)
    await scene.runtime.close()
    assert.equal(scene.leftovers(), left)
  } finally {
    await scene.runtime.close().catch(() => {}) // told above
    await scene.end()
  }
}

/** The one container there is, or the one of that name. */
export function containerOf({ standIn }: DockerScene, name?: string) {
  const found = [...standIn.containers.values()].find(each => name === undefined || each.name === name)
  if (found === undefined) throw new Error(`there is no container ${name ?? 'at all'}`)
  return found
}

/** Asks again and again, and lets everything else go on in between. The test's own deadline bounds it. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await sleep(systemClock, 5)
}
