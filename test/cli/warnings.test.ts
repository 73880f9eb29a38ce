import { channel } from 'node:diagnostics_channel'
import * as assert from 'uvu/assert'
import { showWarnings } from '../../src/cli/warnings.ts'
import { publish } from '../../src/telemetry/channels.ts'
import { suite } from '../support/suite.ts'

const test = suite('warnings')

function listen() {
  const said: string[] = []
  const stop = showWarnings({ need: text => void said.push(text) })
  return { said, stop }
}

test('what the library publishes is said until it is stopped', () => {
  const { said, stop } = listen()
  publish('sandbox', { tag: 'will-not-go', message: 'sandbox s-1 will not go' })
  channel('troupe:actor').publish({ tag: 'actor-failed', message: 'the actor a failed' })
  stop()
  publish('sandbox', { tag: 'will-not-go', message: 'sandbox s-2 will not go' })
  assert.equal(said, ['warning: sandbox s-1 will not go', 'warning: the actor a failed'])
})

test.run()
