import * as assert from 'uvu/assert'
import { renderRun } from '../../src/report/render-run.ts'
import type { Turn } from '../../src/rollout/trajectory.ts'
import { suite } from '../support/suite.ts'
import { makeRun } from './scene.ts'

const test = suite('a run as a person reads it')

const toolCalls = [{ name: 'bash', arguments: { command: 'ls' }, result: 'calc.py\n', isError: false }]
const timesOf = (part: string, turn: Pick<Turn, 'role' | 'text'>) => {
  const turns = [{ ...turn, toolCalls, atMs: 0, tookMs: 1 }]
  const run = { ...makeRun(1, 0), trajectory: { prompt: 'Mend it.', turns, answer: '', grade: null } }
  return renderRun(run).split(part).length - 1
}

test('what a tool answered is told once, whether its turn tells it in words or in the call alone', () => {
  assert.is(timesOf('calc.py', { role: 'tool', text: '$ ls\ncalc.py\n' }), 1)
  assert.is(timesOf('calc.py', { role: 'tool', text: '' }), 1)
  assert.is(timesOf('calc.py', { role: 'tool', text: '$ ls' }), 1)
})

test('what the model says of it beforehand hides no call', () => {
  assert.is(timesOf('calc.py', { role: 'assistant', text: 'There must be a\ncalc.py\n' }), 2)
})

test.run()
