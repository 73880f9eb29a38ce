import * as assert from 'uvu/assert'
import { toGroupId, toRunId } from '../../src/ids.ts'
import { makeLiveBoard, mergeLive } from '../../src/rollout/live.ts'
import { suite } from '../support/suite.ts'
import { VirtualClock } from '../support/virtual-clock.ts'

const test = suite('live rollouts')
const rollout = (at: number) => ({
  runId: toRunId(`run-${at}`),
  groupId: toGroupId('group'),
  slug: 'task',
  step: 0,
  member: at,
  attempt: 1,
})

test('a board says who is in which phase since when, until the rollout ends', async () => {
  const clock = new VirtualClock(1_000)
  const board = makeLiveBoard(clock)
  const one = board.begin(rollout(1))
  await clock.advance(10)
  const two = board.begin(rollout(2))
  await clock.advance(10)
  one.enter('agent')
  const { rollouts, phases } = board.list(10)
  assert.equal(
    rollouts.map(({ runId, phase, startedAt, since }) => [runId, phase, startedAt, since]),
    [
      ['run-1', 'agent', 1_000, 1_020],
      ['run-2', 'provisioning', 1_010, 1_010],
    ],
  )
  assert.equal(phases, { agent: 1, provisioning: 1 })
  one.enter('grading')
  assert.is(rollouts[0]?.phase, 'agent', 'what was handed out does not change')
  one.end()
  one.end()
  two.end()
  assert.equal(board.list(10), { rollouts: [], phases: {} })
})

test('of many those are listed that have been under way longest, and all are counted, over several threads too', async () => {
  const clock = new VirtualClock(1_000)
  const boards = [makeLiveBoard(clock), makeLiveBoard(clock)]
  for (let at = 0; at < 100; at += 1) {
    boards[at % 2]?.begin(rollout(at)).enter(at < 60 ? 'agent' : 'grading')
    await clock.advance(1)
  }
  const merged = mergeLive(
    boards.map(board => board.list(7)),
    7,
  )
  assert.equal(
    merged.rollouts.map(({ member }) => member),
    [0, 1, 2, 3, 4, 5, 6],
  )
  assert.equal(merged.phases, { agent: 60, grading: 40 })
  assert.equal(mergeLive([], 7), { rollouts: [], phases: {} })
})

test.run()
