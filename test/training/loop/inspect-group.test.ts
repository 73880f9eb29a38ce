import * as assert from 'uvu/assert'
import type { Group } from '../../../src/rollout/group.ts'
import { decideGroupEnd } from '../../../src/rollout/group-end.ts'
import { packTrajectory, toRun } from '../../../src/rollout/pack.ts'
import type { RunHeader } from '../../../src/rollout/run.ts'
import type { Turn } from '../../../src/rollout/trajectory.ts'
import { inspectGroup } from '../../../src/training/loop/inspect-group.ts'
import { makeGroupRecord, makeHeader } from '../../journal/fixtures.ts'
import { suite } from '../../support/suite.ts'

const test = suite('a group as training sees it')

function makeTurn(version: string, output = 2, logprobs = output): Turn {
  return {
    role: 'assistant',
    text: '',
    atMs: 0,
    tookMs: 0,
    version,
    tokens: {
      prompt: Uint32Array.of(1),
      output: new Uint32Array(output).fill(7),
      logprobs: new Float32Array(logprobs).fill(-1),
    },
  }
}

interface Member extends Partial<RunHeader> {
  readonly turns?: readonly Turn[]
}

function makeGroup(members: readonly Member[]): Group {
  const runs = members.map(({ turns = [makeTurn('a')], ...given }, member) =>
    toRun(makeHeader({ member, ...given }), packTrajectory({ prompt: '', turns, answer: null, grade: null })),
  )
  return { ...makeGroupRecord({ end: decideGroupEnd({ type: 'complete' }, runs) }), runs, bytes: 1 }
}

const trainable = (members: readonly Member[]) =>
  inspectGroup(makeGroup(members), members.length, 'train').trainable.map(({ member }) => member)

test('whether a run is trained on is a matter of its grade, whatever else went wrong with it', () => {
  assert.equal(
    trainable([
      { reward: 1 },
      { reward: 0, outcome: 'agent-error', stopReason: 'deadline', error: { tag: 'phase-deadline', message: 'late' } },
      { reward: 0, outcome: 'agent-error', stopReason: 'agent-threw', error: { tag: 'x', message: 'x' } },
      { reward: null, outcome: 'environment-error', error: { tag: 'grade-error', message: 'the grader broke' } },
      { reward: null, outcome: 'infrastructure-error', error: { tag: 'session-lost', message: 'cut' } },
    ]),
    [0, 1, 2],
  )
})

test('log-probabilities that are not as many as ids keep a run out, and are not filled up', () => {
  const members = [{ reward: 1 }, { reward: 0 }, { reward: 0, turns: [makeTurn('a', 3, 2)] }]
  assert.equal(trainable(members), [0, 1])
  assert.is(inspectGroup(makeGroup(members), 3, 'train').verdict.type, 'train-short')
})

test('each turn counts for the weights that put it out, also where a run has several', () => {
  const members = [{ reward: 1, turns: [makeTurn('a'), makeTurn('b'), makeTurn('b')] }, { reward: 0 }]
  const { versions } = inspectGroup(makeGroup(members), 2, 'train')
  assert.equal(
    [...versions],
    [
      ['a', 2],
      ['b', 2],
    ],
  )
})

test.run()
