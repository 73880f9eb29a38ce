import * as assert from 'uvu/assert'
import { runLadder } from '../../src/ladder/ladder.ts'
import type { Level } from '../../src/ladder/level.ts'
import { suite } from '../support/suite.ts'
import { type FakeClient, makeFakePorts } from './fake-client.ts'

const test = suite('ladder')

const PLAN = {
  widths: [1, 8],
  repetitions: 2,
  strategies: ['cold', 'provider-pool', 'prewarm'],
  work: 'infra',
} as const

const nameOf = ({ cell, repetition }: Level) => `${cell.strategy} ${cell.width} ${repetition}`

async function climb(client: FakeClient = {}, onLevel: (level: Level, interrupt: () => void) => void = () => {}) {
  const fake = makeFakePorts(client)
  const told: string[] = []
  const run = await runLadder(PLAN, fake.ports, level => {
    told.push(nameOf(level))
    onLevel(level, fake.interrupt)
  })
  return { ...run, ...fake, told, levels: run.levels.map(nameOf) }
}

test('strategies take turns at each width, and the provider’s pool comes last', async () => {
  const { levels, told, problems } = await climb()
  assert.equal(levels, [
    ...['cold 1 1', 'prewarm 1 1', 'provider-pool 1 1', 'cold 1 2', 'prewarm 1 2', 'provider-pool 1 2'],
    ...['cold 8 1', 'prewarm 8 1', 'provider-pool 8 1', 'cold 8 2', 'prewarm 8 2', 'provider-pool 8 2'],
  ])
  assert.equal(told, levels)
  assert.equal(problems, [])
})

test('whatever was started is ended before the next width begins', async () => {
  const { calls } = await climb()
  const ends = calls.flatMap((call, at) => (call.endsWith(' 1 end') ? [at] : []))
  assert.is(ends.length, 3)
  assert.ok(Math.max(...ends) < calls.indexOf('cold 8 warm-up'))
  assert.is(calls.filter(call => call.endsWith('end')).length, 6)
})

test('a strategy that cannot begin is told of with its width, and the others go on', async () => {
  const { levels, problems, calls } = await climb({
    onWarmUp: ({ strategy, width }) => {
      if (strategy === 'prewarm' && width === 8) throw new Error('no quota')
    },
  })
  assert.equal(problems, ['prewarm at 8: no quota'])
  assert.is(levels.length, 10)
  assert.ok(calls.includes('prewarm 8 end'))
})

test('a level that fails is a problem that names it, and no level', async () => {
  let measured = 0
  const { levels, problems } = await climb({
    onMeasure: () => {
      measured += 1
      if (measured === 2) throw new Error('the client is gone')
      return {}
    },
  })
  assert.equal(problems, ['prewarm at 1, repetition 1: the client is gone'])
  assert.is(levels.length, 11)
})

test('interrupted, it keeps the levels that are done, begins no more and ends what was started', async () => {
  const { levels, problems, calls } = await climb({}, ({ repetition }, interrupt) => {
    if (repetition === 2) interrupt()
  })
  assert.equal(levels, ['cold 1 1', 'prewarm 1 1', 'provider-pool 1 1', 'cold 1 2'])
  assert.equal(problems, [])
  assert.is(calls.filter(call => call.endsWith('end')).length, 3)
  assert.not(calls.some(call => call.includes(' 8 ')))
})

test('an interrupt in the middle of a level does not wait for it', async () => {
  const never = new Promise<never>(() => {})
  const fake = makeFakePorts({ onMeasure: () => never })
  const running = runLadder(PLAN, fake.ports, () => {})
  while (!fake.calls.some(call => call.endsWith('measure'))) await new Promise(resolve => setImmediate(resolve))
  fake.interrupt()
  assert.equal((await running).levels, [])
})

test.run()
