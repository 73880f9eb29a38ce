import * as assert from 'uvu/assert'
import { toErrorData } from '../../src/errors.ts'
import { withDefaultDeadlines } from '../../src/rollout/deadlines.ts'
import { makePhases } from '../../src/rollout/phases.ts'
import { suite } from '../support/suite.ts'
import { VirtualClock } from '../support/virtual-clock.ts'

const test = suite('rollout: phases')

const never = () => new Promise<never>(() => {})

/** What a phase that never ends is told when it is cut after `ms`. */
async function cutAfter(ms: number, deadlines: { readonly agent: number; readonly rollout: number }): Promise<string> {
  const clock = new VirtualClock()
  const phases = makePhases(clock, withDefaultDeadlines(deadlines), new AbortController().signal)
  const cut = phases.run('agent', never).catch(error => toErrorData(error).message)
  await clock.advance(ms)
  return cut
}

test('a phase that is cut names the deadline that cut it: its own, or that of the whole rollout', async () => {
  assert.match(
    await cutAfter(100, { agent: 100, rollout: 1_000 }),
    /"agent" did not end within 100 ms; raise deadlines.agent /,
  )
  assert.match(
    await cutAfter(100, { agent: 1_000, rollout: 100 }),
    /within 100 ms .* phase "agent"; raise deadlines.rollout /,
  )
})

test.run()
