/** What one attempt leaves to the next, and one group to another in its thread: nothing. */
import * as assert from 'uvu/assert'
import type { Agent } from '../../src/agents/agent.ts'
import { TroupeError } from '../../src/errors.ts'
import { DEFAULT_DEADLINES } from '../../src/rollout/deadlines.ts'
import { makeScene, plans } from '../support/engine-scene.ts'
import { suite } from '../support/suite.ts'
import { settle } from '../support/virtual-clock.ts'

const test = suite('attempts and neighbours')

test('of a run that was tried again only the turns of its last attempt are there, by the weights of that attempt', async () => {
  let attempts = 0
  const agent: Agent = {
    name: 'unlucky',
    async run({ record }) {
      attempts += 1
      const version = `v${attempts}`
      const tokens = {
        prompt: Uint32Array.of(1),
        output: Uint32Array.of(attempts),
        logprobs: Float32Array.of(-1),
      }
      record({ role: 'assistant', text: version, atMs: 0, tookMs: 0, version, tokens })
      if (attempts < 3) throw new TroupeError({ tag: 'session-lost', message: 'cut' })
      return { answer: version, stop: 'done' }
    },
  }
  const scene = makeScene({ agent, retries: 2 })
  scene.addShard('a')
  scene.run(plans(1, 1))
  await settle(20)
  await scene.clock.advance(5_000)
  await settle(20)
  const [run] = scene.groups[0]?.runs ?? []
  assert.equal([run?.attempt, run?.reward], [3, 1])
  assert.equal(
    run?.trajectory.turns.map(({ version, tokens }) => [version, ...(tokens?.output ?? [])]),
    [['v3', 3]],
  )
  await scene.system.stop()
})

test('what an agent says after it was cut is not in what is graded, nor kept', async () => {
  const say = (text: string) => ({ role: 'assistant', text, atMs: 0, tookMs: 0 }) as const
  const agent: Agent = {
    name: 'deaf',
    run: ({ record, signal }) =>
      new Promise(() => {
        record(say('in time'))
        signal.addEventListener('abort', () => setImmediate(() => record(say('too late'))))
      }),
  }
  const grade = async () => {
    await settle(5)
    return { score: 0 }
  }
  const scene = makeScene({ agent, peer: { grade } })
  scene.addShard('a')
  scene.run(plans(1, 1))
  await settle(20)
  await scene.clock.advance(DEFAULT_DEADLINES.agent)
  await settle(30)
  const [run] = scene.groups[0]?.runs ?? []
  assert.equal([run?.stopReason, run?.reward], ['deadline', 0])
  assert.equal(
    run?.trajectory.turns.map(({ text }) => text),
    ['in time'],
  )
  await scene.system.stop()
})

test('a group that is given up cancels its own members, and nobody else in its thread', async () => {
  const waiting = new Map<number, (() => void)[]>()
  const cut: number[] = []
  const agent: Agent = {
    name: 'held',
    run: ({ signal, seed }) =>
      new Promise((resolve, reject) => {
        signal.addEventListener('abort', () => {
          cut.push(seed)
          reject(signal.reason)
        })
        waiting.set(seed, [...(waiting.get(seed) ?? []), () => resolve({ answer: 'x', stop: 'done' })])
      }),
  }
  let starts = 0
  let fail = () => {}
  const failing = new Promise<never>((_, reject) => {
    fail = () => reject(new TroupeError({ tag: 'remote-error', message: 'the template threw' }))
  })
  const scene = makeScene({
    agent,
    strategy: { type: 'drop' },
    peer: {
      start: async () => {
        starts += 1
        if (starts === 1) await failing
      },
    },
  })
  scene.addShard('a')
  scene.run(plans(2, 3))
  await settle(60)
  assert.is([...waiting.values()].flat().length, 5, 'all are at work but one, whose start has not been answered yet')
  fail()
  await settle(60)
  assert.equal(
    scene.groups.map(({ groupId, end }) => [groupId, end.type]),
    [['g0', 'dropped']],
  )
  assert.equal([cut.length, scene.leased()], [2, 3], 'the lost member had no agent yet; its two siblings were cut')
  for (const go of [...waiting.values()].flat()) go()
  await settle(60)
  assert.equal(scene.groups.map(({ end }) => end.type).sort(), ['complete', 'dropped'])
  assert.is(cut.length, 2)
  await scene.system.stop()
})

test.run()
