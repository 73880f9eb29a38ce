import fc from 'fast-check'
import * as assert from 'uvu/assert'
import { toGroupId, toJobId, toRunId } from '../../src/ids.ts'
import { decideGroupEnd } from '../../src/rollout/group-end.ts'
import type { RunHeader } from '../../src/rollout/run.ts'
import { suite } from '../support/suite.ts'

const test = suite('group end')

const header = (reward: number | null): RunHeader => ({
  runId: toRunId('r'),
  jobId: toJobId('j'),
  groupId: toGroupId('g'),
  step: 0,
  index: 0,
  member: 0,
  attempt: 1,
  task: { env: 'e', id: 't', args: {}, slug: 't' },
  outcome: reward === null ? 'infrastructure-error' : 'graded',
  reward,
  stopReason: reward === null ? 'sandbox-lost' : 'done',
  ...(reward === null ? { error: { tag: 'session-lost', message: 'cut' } } : {}),
  lease: 'cold',
  timings: {},
  startedAt: 0,
  endedAt: 0,
  seed: 0,
  agent: 'a',
  bytes: 0,
})

test('a group of graded members is complete under every strategy', () => {
  for (const strategy of [{ type: 'complete' }, { type: 'drop' }, { type: 'minimum', members: 2 }] as const)
    assert.equal(decideGroupEnd(strategy, [header(1), header(0)]), { type: 'complete' })
})

test('a lost member keeps, shrinks or drops its group as the strategy says', () => {
  const runs = [header(1), header(0), header(null)]
  const error = { tag: 'session-lost', message: 'cut' }
  assert.equal(decideGroupEnd({ type: 'complete' }, runs), { type: 'complete' })
  assert.equal(decideGroupEnd({ type: 'minimum', members: 2 }, runs), { type: 'partial', graded: 2, planned: 3 })
  assert.equal(decideGroupEnd({ type: 'minimum', members: 3 }, runs), {
    type: 'dropped',
    reason: 'too-few-members',
    error,
  })
  assert.equal(decideGroupEnd({ type: 'drop' }, runs), { type: 'dropped', reason: 'member-lost', error })
})

test('a group without a graded member is dropped, never delivered as zeros', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 16 }), fc.constantFrom('complete', 'drop'), (size, type) => {
      const end = decideGroupEnd(
        { type },
        Array.from({ length: size }, () => header(null)),
      )
      assert.is(end.type === 'dropped' && end.reason, 'no-member-graded')
    }),
  )
})

test.run()
