import fc from 'fast-check'
import * as assert from 'uvu/assert'
import { makeGate } from '../../src/rollout/gate.ts'
import { suite } from '../support/suite.ts'
import { settle } from '../support/virtual-clock.ts'

const test = suite('gate')

test('no more than its width are inside, all get through in the order they came, failures too', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 8 }),
      fc.array(fc.boolean(), { maxLength: 40 }),
      async (width, fails) => {
        const gate = makeGate(width)
        const entered: number[] = []
        let inside = 0
        const work = (index: number, fail: boolean) =>
          gate.run(async () => {
            entered.push(index)
            inside += 1
            assert.ok(inside <= width, `${inside} inside`)
            await settle(1)
            inside -= 1
            if (fail) throw new Error('no')
          })
        const settled = await Promise.allSettled(fails.map((fail, index) => work(index, fail)))
        assert.equal(
          settled.map(({ status }) => status === 'rejected'),
          fails,
        )
        assert.equal(
          entered,
          fails.map((_, index) => index),
        )
      },
    ),
    { numRuns: 30 },
  )
})

test.run()
