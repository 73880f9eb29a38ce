/** What `npm run bench -- cluster` measures with, on a small scale: real workers and a real server. */
import * as assert from 'uvu/assert'
import { measureBy } from '../../../bench/cluster/one.ts'
import type { OverheadCase, Turn } from '../../../bench/cluster/overhead-main.ts'
import type { ScaleCase, ScaleFigures } from '../../../bench/cluster/scale-main.ts'
import { suite } from '../../support/suite.ts'

const test = suite('what the cluster costs')

/** Packed, as the agent that does nothing records it. */
const TRAJECTORY_BYTES = 72_000

test(
  'rollouts on a worker are counted by process and by message, those in a thread go past the server',
  async () => {
    const given: OverheadCase = {
      turns: 1,
      rollouts: 128,
      warmUps: [],
      width: 32,
      threads: 1,
      work: 'noop',
      agent: {},
    }
    const [turn] = await measureBy<readonly Turn[]>('overhead-main', given, undefined)
    assert.ok(turn)
    const { threaded, clustered } = turn
    assert.ok(threaded.perSecond > 0 && clustered.perSecond > 0)
    assert.ok(threaded.bytes < 1_000, `${threaded.bytes} bytes a rollout in a thread`)
    assert.ok(clustered.bytes > 2 * TRAJECTORY_BYTES, `${clustered.bytes} bytes a rollout, in and out`)
    // Published, answered, delivered, acknowledged, some of them together; and what plans and signs of life add.
    assert.ok(clustered.messages > 0.5 && clustered.messages < 12, `${clustered.messages} messages a rollout`)
    assert.ok(clustered.coordinatorMs > 0 && clustered.workerMs > threaded.workerMs)
  },
  { deadlineMs: 90_000 },
)

test(
  'real rollouts are counted with the programs that their sandboxes run',
  async () => {
    const given: OverheadCase = {
      turns: 1,
      rollouts: 8,
      warmUps: [],
      width: 8,
      threads: 1,
      work: 'calc',
      agent: {},
    }
    const [turn] = await measureBy<readonly Turn[]>('overhead-main', given, undefined)
    assert.ok(turn)
    for (const { perSecond, hostMs, coordinatorMs } of [turn.threaded, turn.clustered]) {
      assert.ok(perSecond > 0 && coordinatorMs > 0)
      assert.ok(hostMs > 50, `two pytests and more in ${hostMs} ms of CPU`)
    }
  },
  { deadlineMs: 90_000 },
)

test(
  'rollouts that wait are all there at once, over three workers',
  async () => {
    const given: ScaleCase = { workers: 3, rollouts: 96, agent: { waitMs: 4_000, turns: 1 } }
    const figures = await measureBy<ScaleFigures>('scale-main', given, undefined)
    assert.is(figures.rollouts, 96)
    assert.is(figures.mostAtOnce, 96)
    assert.ok(figures.reachedMs < figures.wallMs && figures.wallMs >= 4_000)
    for (const part of ['coordinator', 'workers', 'hosts', 'nats'] as const)
      assert.ok(figures.peakBytes[part] > 2 ** 20, `${part}: ${figures.peakBytes[part]} bytes`)
  },
  { deadlineMs: 90_000 },
)

test.run()
