import * as assert from 'uvu/assert'
import { openMemoryJournal } from '../../src/journal/index.ts'
import { packTrajectory } from '../../src/rollout/pack.ts'
import { suite } from '../support/suite.ts'
import { exportBoth, jobId, makeJournal, said, tokens, withoutNulls } from './export-scene.ts'
import { makeHeader } from './fixtures.ts'

const test = suite('export of tokens')

test('tokens: a row a turn, with ids, logprobs, mask and the advantage within its group', async () => {
  const { lines, rows, types } = await exportBoth(await makeJournal(), { shape: 'tokens' })
  assert.equal(rows, withoutNulls(lines))
  assert.equal(
    [types.prompt_token_ids, types.logprobs, types.loss_mask, types.reward],
    ['LIST', 'LIST', 'LIST', 'DOUBLE'],
  )
  assert.is(lines.length, 10)
  const [first, second] = lines
  assert.equal(
    [first?.turn, first?.prompt_token_ids, first?.completion_token_ids, first?.logprobs, first?.loss_mask],
    [0, [1, 2], [3, 4], [-0.5, -1], [1, 1]],
  )
  assert.equal([second?.turn, second?.prompt_token_ids, second?.completion_token_ids], [3, [1, 2, 3, 4, 9, 9, 9], [5]])
  // Rewards 1, 0 and 0.5: the member without one is no part of their mean.
  const deviation = Math.sqrt(1 / 6) + 1e-4
  const advantages = lines.map(row => row.advantage as number)
  assert.ok(Math.abs((advantages[0] ?? 0) - 0.5 / deviation) < 1e-9, String(advantages[0]))
  assert.equal(advantages.slice(6), [0, 0, 0, 0])
})

test('turns that go on from each other are one sample, with what a tool said masked; those that do not stay apart', async () => {
  const { lines, rows } = await exportBoth(await makeJournal(), { shape: 'tokens', mergeTurns: true })
  assert.equal(rows, withoutNulls(lines))
  assert.is(lines.length, 5)
  const [first] = lines
  assert.equal(
    [
      first?.turn,
      first?.num_turns,
      first?.prompt_token_ids,
      first?.completion_token_ids,
      first?.logprobs,
      first?.loss_mask,
    ],
    [0, 2, [1, 2], [3, 4, 9, 9, 9, 5], [-0.5, -1, 0, 0, 0, -0.5], [1, 1, 0, 0, 0, 1]],
  )
  const apart = openMemoryJournal()
  await apart.putJob({ jobId, name: 'calc', startedAt: 1, seed: 7, settings: {} })
  const turns = [
    said('one', { tokens: tokens([1, 2], [3]), version: 'v1' }),
    said('another context', { tokens: tokens([1, 7, 3, 4], [5]), version: 'v1' }),
    said('other weights', { tokens: tokens([1, 7, 3, 4, 5, 6], [8]), version: 'v2' }),
    said('a sampler at fault', { tokens: { ...tokens([1], [2, 3]), logprobs: Float32Array.of(-1) } }),
    said('no number', { tokens: { ...tokens([1], [2]), logprobs: Float32Array.of(Number.NaN) } }),
    said('no tokens'),
  ]
  await apart.putRun(makeHeader(), packTrajectory({ prompt: 'p', turns, answer: '', grade: null }))
  const { lines: samples } = await exportBoth(apart, { shape: 'tokens', mergeTurns: true })
  assert.equal(
    samples.map(row => [row.turn, row.num_turns, row.policy_version]),
    [
      [0, 1, 'v1'],
      [1, 1, 'v1'],
      [2, 1, 'v2'],
    ],
  )
})

test.run()
