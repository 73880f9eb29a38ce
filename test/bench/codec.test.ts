import * as assert from 'uvu/assert'
import { makeSubjects } from '../../bench/codec/subjects.ts'
import { suite } from '../support/suite.ts'

const test = suite('bench codec')

for (const { name, ways } of makeSubjects())
  test(`${name}: every way gives back the same as ours, so that the same work is compared`, () => {
    const { ours, ...others } = ways
    const value = ours.unpack(Uint8Array.from(ours.pack()))
    for (const [other, { pack, unpack }] of Object.entries(others))
      assert.equal(unpack(Uint8Array.from(pack())), value, other)
  })

test.run()
