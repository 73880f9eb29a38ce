import * as assert from 'uvu/assert'
import type { Actor } from '../../src/kernel/actor.ts'
import type { Scheduler } from '../../src/kernel/scheduler.ts'
import { makeSystem } from '../../src/kernel/system.ts'
import { suite } from '../support/suite.ts'

const test = suite('kernel: scheduler')

/** Keeps what it is given until it is told to run it. */
function heldScheduler(choose?: (count: number) => number) {
  const held: (() => void)[] = []
  const scheduler: Scheduler = {
    microtask: run => void held.push(run),
    macrotask: run => void held.push(run),
    ...(choose === undefined ? {} : { choose }),
  }
  return { held, scheduler }
}

function recorder(name: string, heard: string[]): Actor<null, number> {
  return {
    name,
    initial: () => null,
    receive(state, message) {
      heard.push(`${name}${message}`)
      return state
    },
  }
}

test('without a choice, actors have their turns in order of arrival, many messages at once', async () => {
  const { held, scheduler } = heldScheduler()
  const system = makeSystem({ node: 'main', scheduler })
  const heard: string[] = []
  const [a, b] = [system.spawn(recorder('a', heard)), system.spawn(recorder('b', heard))]
  for (const message of [1, 2]) for (const ref of [a, b]) ref.tell(message)
  assert.equal(heard, [], 'nothing runs before the scheduler says so')
  held.shift()?.()
  assert.equal(heard, ['a1', 'a2', 'b1', 'b2'])
  await system.stop()
})

test('a scheduler that chooses decides whose message is next, one at a time, and each actor keeps its order', async () => {
  const counts: number[] = []
  const { held, scheduler } = heldScheduler(count => {
    counts.push(count)
    return count - 1
  })
  const system = makeSystem({ node: 'main', scheduler })
  const heard: string[] = []
  const refs = ['a', 'b', 'c'].map(name => system.spawn(recorder(name, heard)))
  for (const message of [1, 2]) for (const ref of refs) ref.tell(message)
  let turns = 0
  for (let run = held.shift(); run !== undefined; run = held.shift()) {
    run()
    turns += 1
    assert.is(heard.length, turns, 'one message a turn')
  }
  assert.equal(counts, [3, 3, 2, 2, 1, 1])
  assert.equal(heard, ['c1', 'c2', 'b1', 'b2', 'a1', 'a2'])
  await system.stop()
})

test.run()
