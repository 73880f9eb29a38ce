import * as assert from 'uvu/assert'
import { splitRun } from '../../src/explain/split-run.ts'
import { suite } from '../support/suite.ts'

const test = suite('explain: a run split into parts')

const split = (
  timings: Parameters<typeof splitRun>[0]['timings'],
  took: number,
  turns: Parameters<typeof splitRun>[1] = [],
  lease: Parameters<typeof splitRun>[0]['lease'] = 'cold',
) =>
  splitRun({ timings, startedAt: 1_000, endedAt: 1_000 + took, lease }, turns, 50).map(
    ({ part, from, to }) => `${part} ${from}-${to}`,
  )

test('phases stand one after the other, and the wait for a sandbox says of which kind it was', () => {
  const timings = { provisioning: 10, connecting: 1, starting: 2, agent: 20, grading: 5, cleanup: 2 }
  assert.equal(split(timings, 40), [
    'sandbox-cold 50-60',
    'connecting 60-61',
    'starting 61-63',
    'agent 63-83',
    'grading 83-88',
    'cleanup 88-90',
  ])
  assert.is(split({ provisioning: 10 }, 10, [], null)[0], 'sandbox-none 50-60')
})

test("the agent's phase is its model's and its tools', and its own in between", () => {
  const turns = [
    { role: 'tool', atMs: 12, tookMs: 3 },
    { role: 'assistant', atMs: 2, tookMs: 8 },
    { role: 'assistant', atMs: 15, tookMs: 100 },
  ] as const
  assert.equal(split({ agent: 20 }, 20, turns), [
    'agent 50-52',
    'model 52-60',
    'agent 60-62',
    'tools 62-65',
    'model 65-70',
  ])
})

test('of tools that ran side by side each instant counts once', () => {
  const turns = [
    { role: 'tool', atMs: 0, tookMs: 10 },
    { role: 'tool', atMs: 2, tookMs: 12 },
  ] as const
  assert.equal(split({ agent: 14 }, 14, turns), ['tools 50-60', 'tools 60-64'])
})

test('what no phase has stands before the cleanup, and what is longer than the run is cut', () => {
  assert.equal(split({ agent: 10, cleanup: 2 }, 15), ['agent 50-60', 'other 60-63', 'cleanup 63-65'])
  assert.equal(split({ agent: 10.4, grading: 5.3 }, 15), ['agent 50-60.4', 'grading 60.4-65'])
  assert.equal(split({}, 0), [])
})

test.run()
