/** Whether the main thread goes on while the bodies of training calls are made. */
import * as assert from 'uvu/assert'
import { encodeGroups } from '../../src/training/body/encode-groups.ts'
import { openEncoder } from '../../src/training/body/encoder.ts'
import { checkGroups } from '../../src/training/check-groups.ts'
import { suite } from '../support/suite.ts'
import { makeTrainingGroups } from '../training/fixtures.ts'

const test = suite('the main thread')

test('turns on and on while the bodies of many long runs are encoded', async () => {
  const RUNS = 32
  const encoder = openEncoder()
  const groups = checkGroups(makeTrainingGroups(RUNS / 8, 8, { turns: 4, promptIds: 10_000, outputIds: 4_000 }), 8)
  let turns = 0
  let over = false
  const count = () => {
    turns += 1
    if (!over) setImmediate(count)
  }
  setImmediate(count)
  try {
    const encoded = await encodeGroups(encoder, groups)
    assert.is(encoded.flatMap(({ fragments }) => fragments).length, RUNS)
    // Encoded here they would all be done before the event loop turns once.
    assert.ok(turns > RUNS, `${turns} turns of the event loop`)
  } finally {
    over = true
    await encoder.close()
  }
})

test.run()
