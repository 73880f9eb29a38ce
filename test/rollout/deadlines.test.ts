import * as assert from 'uvu/assert'
import { toEngineSettings } from '../../src/assembly/settings.ts'
import { hasTag } from '../../src/errors.ts'
import type { Deadlines } from '../../src/job/options.ts'
import { DEFAULT_DEADLINES, withDefaultDeadlines } from '../../src/rollout/deadlines.ts'
import { FakeRuntime } from '../actors/fake-runtime.ts'
import { suite } from '../support/suite.ts'

const test = suite('deadlines of a rollout')

const HOUR = 60 * 60_000
const PHASES = [
  'provisioning',
  'connecting',
  'starting',
  'agent',
  'grading',
  'verifying',
  'cleanup',
  'rollout',
] as const

const settings = (deadlines: Partial<Deadlines>) => toEngineSettings({ runtime: new FakeRuntime(), deadlines })

test('every phase has one that a person would wait for, and so has the whole, where nobody says anything', () => {
  assert.equal(Object.keys(DEFAULT_DEADLINES).sort(), [...PHASES].sort())
  for (const [phase, ms] of Object.entries(settings({}).deadlines))
    assert.ok(ms > 0 && ms <= HOUR, `${phase}: ${ms} ms`)
})

test('one that is given leaves the others as they are', () => {
  assert.equal(withDefaultDeadlines({ agent: 5 }), { ...DEFAULT_DEADLINES, agent: 5 })
})

test('one that no timer can count is refused: for ever would be at once', () => {
  for (const phase of PHASES)
    for (const ms of [Number.POSITIVE_INFINITY, Number.NaN, 0, -1, 2 ** 31])
      assert.throws(
        () => settings({ [phase]: ms }),
        (error: unknown) => hasTag(error, 'bad-option') && error.message.includes(`deadlines.${phase} is ${ms}`),
        `${phase} ${ms}`,
      )
  assert.is(settings({ agent: 2 ** 31 - 1 }).deadlines.agent, 2 ** 31 - 1)
})

test.run()
