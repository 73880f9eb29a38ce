import { EventEmitter } from 'node:events'
import * as assert from 'uvu/assert'
import { armInterrupt } from '../../src/cli/interrupt.ts'
import { suite } from '../support/suite.ts'

const test = suite('interrupts')

test('the first signal aborts, the second ends at once, and none is heard any more after disarming', () => {
  const source = new EventEmitter()
  const heard: string[] = []
  const interrupt = armInterrupt({ onFirst: () => heard.push('first'), onSecond: () => heard.push('second') }, source)
  assert.is(interrupt.signal.aborted, false)
  source.emit('SIGINT')
  assert.is(interrupt.signal.aborted, true)
  source.emit('SIGTERM')
  source.emit('SIGINT')
  assert.equal(heard, ['first', 'second'])
  interrupt.disarm()
  assert.is(source.listenerCount('SIGINT') + source.listenerCount('SIGTERM'), 0)
})

test.run()
