import fc from 'fast-check'
import * as assert from 'uvu/assert'
import type { Signal } from '../../src/kernel/actor.ts'
import { Mailbox } from '../../src/kernel/mailbox.ts'
import { Ring } from '../../src/kernel/ring.ts'
import { suite } from '../support/suite.ts'

const test = suite('mailbox')

type Step = { readonly type: 'offer' } | { readonly type: 'take' } | { readonly type: 'signal' }

const steps = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.constant<Step>({ type: 'offer' }) },
    { weight: 3, arbitrary: fc.constant<Step>({ type: 'take' }) },
    { weight: 1, arbitrary: fc.constant<Step>({ type: 'signal' }) },
  ),
  { maxLength: 300 },
)

const signal = (number: number): Signal => ({
  type: 'terminated',
  address: String(number),
  reason: { type: 'stopped' },
})

test('keeps the order, never exceeds the bound, loses nothing, gives nothing twice, and gives signals first', () => {
  fc.assert(
    fc.property(steps, fc.integer({ min: 1, max: 40 }), (script, capacity) => {
      const mailbox = new Mailbox(capacity)
      const expected: number[] = []
      const expectedSignals: string[] = []
      for (const [number, step] of script.entries()) {
        if (step.type === 'offer') {
          const kept = mailbox.offer(number)
          assert.is(kept, expected.length < capacity)
          if (kept) expected.push(number)
        } else if (step.type === 'signal') {
          mailbox.addSignal(signal(number))
          expectedSignals.push(String(number))
        } else {
          const next = mailbox.takeSignal()
          if (next === undefined) {
            assert.is(expectedSignals.length, 0)
            assert.is(mailbox.messages.shift(), expected.shift())
          } else assert.is(next.address, expectedSignals.shift())
        }
        assert.ok(mailbox.messages.size <= capacity)
        assert.is(mailbox.messages.size, expected.length)
        assert.is(mailbox.empty, expected.length + expectedSignals.length === 0)
      }
    }),
  )
})

test('what an actor asked for itself is kept even when the mailbox is full', () => {
  const mailbox = new Mailbox(1)
  assert.is(mailbox.offer('told'), true)
  assert.is(mailbox.offer('told'), false)
  mailbox.force('own')
  assert.is(mailbox.messages.size, 2)
})

test('a ring that grows while it is wrapped keeps its order, undefined included', () => {
  const ring = new Ring<number | undefined>()
  for (let value = 0; value < 12; value += 1) ring.push(value)
  for (let value = 0; value < 9; value += 1) ring.shift()
  for (let value = 12; value < 100; value += 1) ring.push(value === 50 ? undefined : value)
  const rest: (number | undefined)[] = []
  while (ring.size > 0) rest.push(ring.shift())
  assert.equal(
    rest,
    Array.from({ length: 91 }, (_, index) => (index + 9 === 50 ? undefined : index + 9)),
  )
})

test.run()
