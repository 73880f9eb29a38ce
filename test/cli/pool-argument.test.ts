import fc from 'fast-check'
import * as assert from 'uvu/assert'
import { toPool } from '../../src/cli/pool-argument.ts'
import { suite } from '../support/suite.ts'

const test = suite('cli pool argument')

const ACCEPTED = {
  cold: { strategy: 'cold', size: 0 },
  auto: { strategy: 'prewarm', size: 'auto', source: { type: 'auto' } },
  '128': { strategy: 'prewarm', size: 128 },
  'provider-pool': { strategy: 'cold', size: 0, source: { type: 'provider-pool' } },
  'provider-pool:256': { strategy: 'cold', size: 0, source: { type: 'provider-pool', size: 256 } },
  fork: { strategy: 'cold', size: 0, source: { type: 'fork' } },
  'fork:8': { strategy: 'cold', size: 0, source: { type: 'fork', parents: 8 } },
  '128+fork:8': { strategy: 'prewarm', size: 128, source: { type: 'fork', parents: 8 } },
  'fork:8+128': { strategy: 'prewarm', size: 128, source: { type: 'fork', parents: 8 } },
  'auto+provider-pool:256': { strategy: 'prewarm', size: 'auto', source: { type: 'provider-pool', size: 256 } },
  '128+wave:64': { strategy: 'prewarm', size: 128, wave: 64 },
  'wave:64': { strategy: 'cold', size: 0, wave: 64 },
  'cold+fork': { strategy: 'cold', size: 0, source: { type: 'fork' } },
} as const

test('a pool is a size, a source, or both in any order; a lone source is cold', () => {
  for (const [text, options] of Object.entries(ACCEPTED)) assert.equal(toPool(text), options, text)
})

test('what is wrong is named with the part that it is in', () => {
  for (const [text, why] of [
    ['', /on one side of a "\+"/],
    ['128+', /on one side of a "\+"/],
    ['hot', /"hot" is no part of a pool/],
    ['128+forks', /"forks" is no part of a pool/],
    ['0', /number in "0"/],
    ['-3', /"-3" is no part/],
    ['1.5', /number in "1.5"/],
    ['128x', /number in "128x"/],
    ['fork:', /number in "fork:"/],
    ['128+fork:0', /number in "fork:0"/],
    ['provider-pool:many', /number in "provider-pool:many"/],
    ['auto+128', /"128" is a second size/],
    ['128+wave:0', /number in "wave:0"/],
    ['wave:8+wave:9', /"wave:9" is a second wave/],
    ['fork+provider-pool', /"provider-pool" is a second source/],
  ] as const)
    assert.throws(
      () => toPool(text),
      (error: Error) => why.test(error.message) && error.message.includes('Write cold, auto or N'),
      text,
    )
})

test('any text is a pool or is refused in words', () => {
  const part = fc.oneof(fc.constantFrom('cold', 'auto', 'fork', 'provider-pool', '+', ':', '8'), fc.string())
  fc.assert(
    fc.property(fc.array(part, { maxLength: 5 }), parts => {
      try {
        const { strategy, size } = toPool(parts.join(''))
        assert.ok(strategy === 'cold' ? size === 0 : size === 'auto' || size >= 1)
      } catch (error) {
        assert.is((error as { code?: string }).code, 'commander.invalidArgument')
      }
    }),
  )
})

test.run()
