import * as assert from 'uvu/assert'
import { type Clock, systemClock } from '../../src/clock.ts'
import { suite } from '../support/suite.ts'
import { create, withEmulator } from './support/http.ts'

const test = suite('emulator: the minutes of its limits')

/** The system's clock, set forward. */
class SkippingClock implements Clock {
  #skippedMs = 0

  skip(ms: number): void {
    this.#skippedMs += ms
  }

  now(): number {
    return systemClock.now() + this.#skippedMs
  }

  wallTime(): number {
    return systemClock.wallTime() + this.#skippedMs
  }

  after(delayMs: number, wake: () => void): () => void {
    return systemClock.after(delayMs, wake)
  }
}

test('pass as fast as everything else there, and a client that waits as long as it is told gets in', () => {
  const speed = 20
  const clock = new SkippingClock()
  return withEmulator({ clock, speed, limits: { 'sandbox-create': 1 } }, async emulator => {
    assert.is((await create(emulator)).status, 200)
    const { headers, status } = await create(emulator)
    const seconds = Number(headers.get('retry-after'))
    assert.is(status, 429)
    assert.ok(seconds >= 1 && seconds <= 60 / speed, `it says ${seconds} s`)
    clock.skip(seconds * 1_000)
    assert.is((await create(emulator)).status, 200)
  })
})

test.run()
