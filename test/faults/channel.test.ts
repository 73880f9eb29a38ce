/** Control channels that are cut, half open, or carry what no environment said, between the engine and a real server. */
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { systemClock } from '../../src/clock.ts'
import { minimalVariables } from '../../src/runtimes/minimal-variables.ts'
import { startServing } from '../../src/runtimes/serve-process.ts'
import { UrlRuntime } from '../../src/runtimes/url.ts'
import { MAX_FRAME_BYTES } from '../../src/wire/frame.ts'
import { suite } from '../support/suite.ts'
import { allGraded, surviveWith } from './harness/all-graded.ts'
import { type ChannelFault, type FaultyProxy, startFaultyProxy } from './harness/faulty-proxy.ts'
import { type FaultScene, MARK, withFaultScene } from './harness/scene.ts'
import { type Draw, faultTest, runFaults } from './harness/seeds.ts'

const test = suite('faults of control channels')

const serveProgram = fileURLToPath(new URL('../../src/environment/serve-main.js', import.meta.url))
const MEMBERS = 2
/** What the server sends over one connection in a whole rollout is a little more. */
const MOST_BYTES = 300
/** The runtime's preflight has the first connection. */
const FIRST = 2
/** What the system holds of a stream on both ends, generously. */
const SOCKET_BYTES = 16 * 1024 * 1024

/** A served environment behind a proxy, with each of the faults on one of so many connections. */
async function withChannel(
  scene: FaultScene,
  draw: Draw,
  faults: readonly ChannelFault[],
  connections: number,
  body: (proxy: FaultyProxy, runtime: UrlRuntime) => Promise<void>,
): Promise<number> {
  const serving = await startServing({
    argv: [process.execPath, serveProgram, scene.environment, '--port', '0', '--exit-with-parent'],
    env: { ...minimalVariables(), [MARK]: scene.directory },
    clock: systemClock,
    startDeadlineMs: 30_000,
    stopGraceMs: 5_000,
  })
  try {
    if (serving.address.kind !== 'tcp') throw new Error('not over TCP')
    const places = draw.moments(faults.length, connections).map(place => place - 1 + FIRST)
    const schedule = faults.map((fault, index) => ({
      connection: places[index] ?? FIRST,
      afterBytes: draw.whole(1, MOST_BYTES),
      fault,
    }))
    const proxy = await startFaultyProxy(serving.address.port, schedule)
    try {
      await body(proxy, new UrlRuntime(proxy.url))
      assert.is(proxy.struck, faults.length, JSON.stringify(schedule))
      return proxy.struck
    } finally {
      await proxy.close()
    }
  } finally {
    await serving.stop()
  }
}

faultTest(test, 'a channel that breaks or lies costs an attempt, and every rollout is graded', { seeds: 8 }, draw =>
  withFaultScene([], scene => {
    const faults = [draw.one(['cut', 'half-closed', 'garbage', 'stranger']), draw.one(['cut', 'garbage'])] as const
    return withChannel(scene, draw, faults, 4, async (_, runtime) => {
      const options = { runtime, connections: 'each' as const }
      await allGraded(scene, { groups: 2, members: MEMBERS, seed: draw.seed, options })
    })
  }),
)

faultTest(test, 'when it is shared, all who share it lose an attempt and none its grade', { seeds: 3 }, draw =>
  withFaultScene([], scene =>
    withChannel(scene, draw, [draw.one(['cut', 'half-closed', 'garbage', 'stranger'])], 1, async (_, runtime) => {
      const options = { runtime, maxConcurrent: 2, connections: 'shared' as const }
      await allGraded(scene, { groups: 4, members: MEMBERS, seed: draw.seed, options })
    }),
  ),
)

faultTest(test, 'one byte at a time is slow and nothing else', { seeds: 2 }, draw =>
  withFaultScene([], scene =>
    withChannel(scene, draw, ['drip', 'drip'], 4, async (_, runtime) => {
      const options = { runtime, connections: 'each' as const }
      const { groups } = await allGraded(scene, { groups: 2, members: MEMBERS, seed: draw.seed, options })
      for (const { runs } of groups) for (const { attempt } of runs) assert.is(attempt, 1)
    }),
  ),
)

faultTest(test, 'a frame without end is cut at the limit, whatever it would have held', { seeds: 2 }, draw =>
  withFaultScene([], scene =>
    withChannel(scene, draw, ['endless'], 4, async (proxy, runtime) => {
      const options = { runtime, connections: 'each' as const }
      await allGraded(scene, { groups: 2, members: MEMBERS, seed: draw.seed, options })
      assert.ok(proxy.mostTaken < MAX_FRAME_BYTES + SOCKET_BYTES, `${proxy.mostTaken} bytes`)
    }),
  ),
)

faultTest(test, 'a peer that is there and says nothing costs deadlines: a reason, and no reward', { seeds: 3 }, draw =>
  withFaultScene([], scene =>
    withChannel(scene, draw, ['half-open', 'half-open'], 4, async (_, runtime) => {
      const deadlines = { connecting: 1_500, starting: 1_500, grading: 1_500, cleanup: 500 }
      const options = { runtime, deadlines, connections: 'each' as const }
      await surviveWith(
        scene,
        { groups: 2, members: MEMBERS, seed: draw.seed, options },
        { stops: ['deadline'], tags: ['phase-deadline'] },
      )
    }),
  ),
)

runFaults(test)
