import fc from 'fast-check'
import * as assert from 'uvu/assert'
import { makeCrowd, type Visit } from '../../src/emulator/crowd.ts'
import { suite } from '../support/suite.ts'

const test = suite('emulator crowd')

test('the peak of a visit is the most that were there at once since it began, whoever comes and goes', () => {
  const coming = fc.record({ type: fc.constant('enter' as const) })
  const going = fc.record({ type: fc.constant('leave' as const), place: fc.nat(20) })
  fc.assert(
    fc.property(
      fc.array(fc.oneof({ weight: 3, arbitrary: coming }, { weight: 2, arbitrary: going }), { maxLength: 60 }),
      moves => {
        const crowd = makeCrowd()
        const inside: { readonly visit: Visit; peak: number }[] = []
        for (const move of moves) {
          if (move.type === 'enter') {
            inside.push({ visit: crowd.enter(), peak: 0 })
            for (const each of inside) each.peak = Math.max(each.peak, inside.length)
          } else inside.splice(move.place % Math.max(1, inside.length), 1)[0]?.visit.leave()
          for (const { visit, peak } of inside) assert.is(visit.peak(), peak)
        }
      },
    ),
  )
})

test.run()
