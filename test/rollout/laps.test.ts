import * as assert from 'uvu/assert'
import { withDefaultDeadlines } from '../../src/rollout/deadlines.ts'
import { makePhases } from '../../src/rollout/phases.ts'
import { PHASES, type Phase } from '../../src/rollout/run.ts'
import { suite } from '../support/suite.ts'
import { VirtualClock } from '../support/virtual-clock.ts'

const test = suite('laps of a rollout')

test('each visit to a phase has its time, and side by side they are the whole', async () => {
  const clock = new VirtualClock()
  const phases = makePhases(clock, withDefaultDeadlines(), new AbortController().signal)
  const visited: readonly Phase[] = ['provisioning', 'connecting', 'grading', 'cleanup', 'verifying', 'cleanup']
  for (const phase of visited) await phases.run(phase, () => clock.advance(100 + PHASES.indexOf(phase)))
  phases.close()
  let atMs = 0
  for (const [index, phase] of visited.entries()) {
    const tookMs = 100 + PHASES.indexOf(phase)
    assert.equal(phases.laps[index], { phase, atMs, tookMs })
    atMs += tookMs
  }
  assert.equal([phases.laps.length, clock.now()], [visited.length, atMs])
  assert.is(phases.timings.cleanup, 2 * (100 + PHASES.indexOf('cleanup')))
})

test('a phase that is cut has the time until then', async () => {
  const clock = new VirtualClock()
  const phases = makePhases(clock, withDefaultDeadlines({ agent: 50 }), new AbortController().signal)
  const cut = phases.run('agent', () => new Promise(() => {})).catch(error => error.tag)
  await clock.advance(60)
  assert.is(await cut, 'phase-deadline')
  phases.close()
  assert.equal(
    phases.laps.map(({ phase, atMs }) => [phase, atMs]),
    [['agent', 0]],
  )
  assert.ok((phases.laps[0]?.tookMs ?? 0) >= 50)
})

test.run()
