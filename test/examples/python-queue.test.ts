import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import * as assert from 'uvu/assert'
import { makePolicyAgent } from '../../examples/python-queue/policy-agent.ts'
import { type GroupQueue, makeGroupQueue, type QueueOptions } from '../../examples/python-queue/queue.ts'
import { runScript } from '../../examples/python-queue/script.ts'
import { toGroupId } from '../../src/ids.ts'
import { Job, LocalRuntime, Taskset } from '../../src/index.ts'
import type { Group } from '../../src/rollout/group.ts'
import { until } from '../end-to-end/scene.ts'
import { makeGroupRecord } from '../journal/fixtures.ts'
import { suite } from '../support/suite.ts'
import { VirtualClock } from '../support/virtual-clock.ts'
import { makeTrainingRun } from '../training/fixtures.ts'

const test = suite('the Python queue')
const FLAT = { version: 0, logits: [0, 0, 0, 0] }

function makeGroup(group: number, members = 2): Group {
  const runs = Array.from({ length: members }, (_, member) =>
    makeTrainingRun({ group, member, turns: 1, outputIds: 1, vocabulary: 4 }),
  )
  const bytes = runs.reduce((sum, run) => sum + run.bytes, 0)
  return { ...makeGroupRecord({ index: group }), groupId: toGroupId(`group-${group}`), runs, bytes }
}

interface Leased {
  readonly lease: string
  readonly group: { readonly group_id: string; readonly runs: readonly { readonly reward: number }[] }
  readonly end?: boolean
}

/** A queue that listens, and a script of the test's own that talks to it. */
async function withQueue(
  body: (queue: GroupQueue, script: ReturnType<typeof talkTo>, url: string) => Promise<void>,
  more: Partial<QueueOptions> = {},
): Promise<void> {
  const queue = makeGroupQueue({ maxGroups: 3, maxBytes: 1_000_000, leaseMs: 60_000, policy: FLAT, ...more })
  try {
    const url = await queue.app.listen({ port: 0, host: '127.0.0.1' })
    await body(queue, talkTo(url), url)
  } finally {
    await queue.app.close()
  }
}

function talkTo(url: string) {
  const post = (route: string, body?: object) =>
    fetch(`${url}/${route}`, {
      method: 'POST',
      ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    })
  return {
    lease: async () => (await (await post('lease')).json()) as Leased,
    leaseStatus: async () => (await post('lease')).status,
    ack: async (lease: string, version = 1) =>
      (await post('ack', { lease, policy: { version, logits: FLAT.logits } })).status,
  }
}

const turn = () => new Promise(resolve => setImmediate(resolve))

test('groups come whole and in order, and each is gone with its acknowledgement', () =>
  withQueue(async (queue, script) => {
    for (const group of [0, 1, 2]) await queue.put(makeGroup(group, 4))
    for (const expected of [0, 1, 2]) {
      const { lease, group } = await script.lease()
      assert.is(group.group_id, `group-${expected}`)
      assert.equal(
        group.runs.map(run => run.reward),
        [0, 1, 0, 1],
      )
      assert.is(await script.ack(lease, expected + 1), 200)
    }
    assert.equal(queue.counts, { waiting: 0, leased: 0, acked: 3, handedOut: 3 })
    assert.is(queue.policy.version, 3)
  }))

test('what waits and what is leased is bounded, and an acknowledgement makes room', () =>
  withQueue(async (queue, script) => {
    for (const group of [0, 1, 2]) await queue.put(makeGroup(group))
    let isIn = false
    const fourth = queue.put(makeGroup(3)).then(() => {
      isIn = true
    })
    const { lease } = await script.lease()
    await turn()
    assert.not(isIn, 'a lease frees nothing')
    await script.ack(lease)
    await fourth
    assert.equal(queue.counts, { waiting: 3, leased: 0, acked: 1, handedOut: 1 })
  }))

test('bytes are bounded too, and a group that is over the bound alone goes through alone', () =>
  withQueue(
    async (queue, script) => {
      await queue.put(makeGroup(0))
      let isIn = false
      const second = queue.put(makeGroup(1)).then(() => {
        isIn = true
      })
      await turn()
      assert.not(isIn)
      const first = await script.lease()
      await script.ack(first.lease)
      await second
      assert.is((await script.lease()).group.group_id, 'group-1')
    },
    { maxBytes: 10 },
  ))

test('a lease that runs out is handed out again once, before all others, and its late acknowledgement is refused', async () => {
  const clock = new VirtualClock()
  await withQueue(
    async (queue, script) => {
      for (const group of [0, 1, 2]) await queue.put(makeGroup(group))
      const slow = await script.lease()
      await script.lease()
      await clock.advance(60_000)
      const again = await script.lease()
      assert.is(again.group.group_id, 'group-1', 'both ran out; the later one came back last')
      assert.is((await script.lease()).group.group_id, 'group-0')
      assert.is(await script.ack(slow.lease), 409)
      assert.is(queue.policy.version, 0, 'nor is the policy taken that came of it')
      assert.is(queue.counts.acked, 0)
    },
    { clock },
  )
})

test('a script that asks and is gone gets nothing', () =>
  withQueue(async (queue, script, url) => {
    const leaving = new AbortController()
    const asking = fetch(`${url}/lease`, { method: 'POST', signal: leaving.signal }).catch(() => 'gone')
    await turn()
    leaving.abort()
    assert.is(await asking, 'gone')
    await queue.put(makeGroup(0))
    assert.is((await script.lease()).group.group_id, 'group-0')
    assert.is(queue.counts.leased, 1)
  }))

test('whoever waits for a group is told to ask again, and at the end that there is none', async () => {
  const clock = new VirtualClock()
  await withQueue(
    async (queue, script) => {
      const asking = script.leaseStatus()
      await until(
        () => clock.pending > 0,
        () => 'nobody waits',
      )
      await clock.advance(10_000)
      assert.is(await asking, 204)
      const finished = queue.finish()
      assert.ok((await script.lease()).end)
      await finished
    },
    { clock },
  )
})

test('a slow script holds the engine up: no more is started than may wait', async () => {
  await withQueue(
    async (queue, script) => {
      let started = 0
      const agent = makePolicyAgent(
        () => queue.policy,
        () => {
          started += 1
        },
      )
      const GROUP = 4
      await using job = await Job.start('slow', {
        runtime: new LocalRuntime('environments/arith/env.ts'),
        threads: 0,
        maxConcurrent: GROUP,
        // One group alone is over it, so one waits.
        maxWaitingBytes: 1,
      })
      const taskset = (await Taskset.load('environments/arith/tasks.ts')).select(['0-11'])
      const rolling = (async () => {
        for await (const group of taskset.stream(agent, { job, group: GROUP })) await queue.put(group)
        await queue.finish()
      })()
      // Two in the queue, one that asks for room, one that the stream holds, and one that is being rolled out.
      const BOUND = 5
      const order: string[] = []
      for (let acked = 0; acked < 12; acked += 1) {
        await until(
          () => queue.counts.waiting > 0,
          () => 'no group comes',
        )
        const { lease, group } = await script.lease()
        order.push(group.group_id)
        assert.is(group.runs.length, GROUP, 'whole')
        if (acked === 0) {
          // It takes its time: as long as the same work takes where nobody holds it up.
          await until(
            () => started >= 4 * GROUP,
            () => `${started} started`,
          )
          const runtime = new LocalRuntime('environments/arith/env.ts')
          const free = { runtime, threads: 0, maxConcurrent: GROUP, group: GROUP }
          await using other = await taskset.run(
            makePolicyAgent(() => FLAT),
            free,
          )
          assert.is(other.runs.length, 12 * GROUP)
        }
        assert.ok(started <= (acked + BOUND) * GROUP, `${started} started with ${acked} acknowledged`)
        assert.is(await script.ack(lease, acked + 1), 200)
      }
      assert.ok((await script.lease()).end)
      await rolling
      assert.is(started, 12 * GROUP)
      assert.is(new Set(order).size, 12, 'nothing lost, nothing twice')
    },
    { maxGroups: 2 },
  )
})

test('a script that is killed with a group in its hands leaves it to the next, and both ends end by themselves', async () => {
  const leaving = new AbortController()
  const queue = makeGroupQueue({ maxGroups: 8, maxBytes: 1_000_000, leaseMs: 60_000, policy: FLAT })
  const pids: number[] = []
  const acks: number[] = []
  queue.app.addHook('onRequest', async (request, reply) => {
    if (request.url !== '/ack') return
    acks.push(pids.length)
    if (acks.length !== 3) return
    // It has trained on its third group, and never gets to say so.
    process.kill(pids.at(-1) ?? 0, 'SIGKILL')
    reply.hijack()
  })
  try {
    const url = await queue.app.listen({ port: 0, host: '127.0.0.1' })
    for (let group = 0; group < 5; group += 1) await queue.put(makeGroup(group))
    const finished = queue.finish()
    await runScript({ url, queue, signal: leaving.signal, onStart: pid => pids.push(pid ?? 0) })
    await finished
    assert.is(pids.length, 2)
    assert.equal(acks, [1, 1, 1, 2, 2, 2])
    assert.equal(queue.counts, { waiting: 0, leased: 0, acked: 5, handedOut: 6 })
    assert.is(queue.policy.version, 5, 'each group is in the policy once')
    for (const pid of pids) assert.throws(() => process.kill(pid, 0), 'ESRCH')
  } finally {
    leaving.abort()
    await queue.app.close()
  }
})

test('a script that keeps dying is an error that says so', async () => {
  const queue = makeGroupQueue({ maxGroups: 1, maxBytes: 1_000_000, leaseMs: 60_000, policy: FLAT })
  try {
    const url = await queue.app.listen({ port: 0, host: '127.0.0.1' })
    const onStart = (pid: number | undefined) => process.kill(pid ?? 0, 'SIGKILL')
    const signal = new AbortController().signal
    let message = ''
    await runScript({ url, queue, signal, restarts: 1, onStart }).catch((error: Error) => {
      message = error.message
    })
    assert.match(message, 'ended 2 times, the last time with SIGKILL')
  } finally {
    await queue.app.close()
  }
})

test('the script needs nothing but Python’s own library', async () => {
  const program = `
import ast, sys
tree = ast.parse(open('examples/python-queue/train.py').read())
names = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
print([name for name in names if name.split('.')[0] not in sys.stdlib_module_names])`
  const { stdout } = await promisify(execFile)('python3', ['-c', program])
  assert.is(stdout.trim(), '[]')
})

test.run()
