import * as assert from 'uvu/assert'
import { type ForkBenchPlan, runForkBench } from '../../src/warmpool/fork-bench.ts'
import { suite } from '../support/suite.ts'
import { makeScene } from './fake-client.ts'

const test = suite('fork-bench')

const PLAN: ForkBenchPlan = { width: 4, parents: [1, 2], batches: 2, repetitions: 2 }

test('each number of parents takes its turn beside cold, and its batches follow without waiting', async () => {
  const { ports, asked } = makeScene()
  const { problems } = await runForkBench(PLAN, ports, () => {})
  const round = [1, 2].flatMap(parents => [
    ...[`fork-${parents} prepare 4`, `fork-${parents} measure`, `fork-${parents} prepare 8`],
    ...[`fork-${parents} measure on`, `fork-${parents} measure`],
  ])
  const turn = ['cold prepare 4', 'cold measure', ...round]
  assert.equal(asked.slice(3, -3), [...turn, ...turn])
  assert.equal(problems, [])
})

test('rows carry the number of parents, and the fill only of parents that were made for it', async () => {
  const { levels, moments } = await runForkBench(PLAN, makeScene().ports, () => {})
  const forks = levels.filter(({ phase }) => phase === 'fork')
  assert.equal(
    forks.map(({ rep, parents, forks: forked, fill_s }) => [rep, parents, forked, fill_s !== undefined]),
    [
      [1, 1, 4, true],
      [1, 2, 4, true],
      [2, 1, 4, false],
      [2, 2, 4, false],
    ],
  )
  assert.equal([...new Set(moments.map(({ parents }) => parents))], [1, 2])
})

test('an interrupt in the middle of a case keeps the cases before it', async () => {
  const scene = makeScene((what, { interrupt }) => {
    if (what === 'fork-2 measure') interrupt.abort(new Error('interrupted'))
  })
  const { levels } = await runForkBench(PLAN, scene.ports, () => {})
  assert.equal(
    levels.map(({ phase, parents }) => [phase, parents]),
    [
      ['cold', undefined],
      ['fork', 1],
      ['batch', 1],
      ['batch', 1],
    ],
  )
  assert.equal(scene.asked.slice(-3), ['cold end', 'fork-1 end', 'fork-2 end'])
})

test.run()
