import * as fc from 'fast-check'
import * as assert from 'uvu/assert'
import { makeFifo } from '../../src/pool/fifo.ts'
import { suite } from '../support/suite.ts'

const test = suite('pool fifo')

test('behaves as a Map whose keys move to the end when they are set again', () => {
  const move = fc.record({ type: fc.constantFrom('set', 'delete'), key: fc.nat(6), value: fc.nat() })
  fc.assert(
    fc.property(fc.array(move, { maxLength: 60 }), moves => {
      const fifo = makeFifo<number, number>()
      const map = new Map<number, number>()
      for (const { type, key, value } of moves) {
        const was = map.delete(key)
        if (type === 'delete') assert.is(fifo.delete(key), was)
        else {
          map.set(key, value)
          fifo.set(key, value)
        }
        assert.equal([...fifo.values()], [...map.values()])
        assert.equal([fifo.size, fifo.first(), fifo.has(key)], [map.size, map.values().next().value, map.has(key)])
      }
    }),
  )
})

test('takes a hundred thousand from its front in no time', () => {
  const fifo = makeFifo<number, number>()
  for (let index = 0; index < 100_000; index += 1) fifo.set(index, index)
  const startedAt = performance.now()
  for (let index = 0; index < 100_000; index += 1) {
    assert.is(fifo.first(), index)
    fifo.delete(index)
  }
  assert.ok(performance.now() - startedAt < 1_000)
})

test.run()
