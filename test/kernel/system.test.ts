import fc from 'fast-check'
import * as assert from 'uvu/assert'
import { hasTag } from '../../src/errors.ts'
import type { DeadLetter } from '../../src/kernel/dead-letters.ts'
import { makeSystem } from '../../src/kernel/system.ts'
import { suite } from '../support/suite.ts'
import { settle } from '../support/virtual-clock.ts'
import { type CounterMessage, count, makeTestSystem, recorder } from './actors.ts'

const test = suite('system')

test('each sender is heard in its order, none lost, none twice, whatever the bursts', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(fc.nat(3), fc.boolean()), { maxLength: 400 }), async script => {
      const system = makeSystem({ node: 'test' })
      const heard: { sender: number; number: number }[] = []
      const refs = [system.spawn(recorder(heard)), system.spawn(recorder(heard))]
      const sent = [0, 0, 0, 0]
      for (const [sender, pause] of script) {
        refs[sender % 2]?.tell({ sender, number: sent[sender] ?? 0 })
        sent[sender] = (sent[sender] ?? 0) + 1
        if (pause) await Promise.resolve()
      }
      await settle(2)
      for (let sender = 0; sender < 4; sender += 1)
        assert.equal(
          heard.filter(message => message.sender === sender).map(({ number }) => number),
          Array.from({ length: sent[sender] ?? 0 }, (_, number) => number),
        )
      await system.stop()
    }),
    { numRuns: 40 },
  )
})

test('more than the budget of one turn lets the event loop breathe', async () => {
  const system = makeSystem({ node: 'test' })
  const heard: number[] = []
  const ref = system.spawn(recorder(heard))
  for (let number = 0; number < 9_000; number += 1) assert.ok(ref.tell(number))
  let heardAtFirstTurn = 0
  await new Promise<void>(resolve =>
    setImmediate(() => {
      heardAtFirstTurn = heard.length
      resolve()
    }),
  )
  assert.ok(heardAtFirstTurn < 9_000)
  await settle()
  assert.is(heard.length, 9_000)
  await system.stop()
})

test('a full mailbox refuses: a dead letter, and false', async () => {
  const letters: DeadLetter[] = []
  const { system } = makeTestSystem({ onDeadLetter: letter => letters.push(letter) })
  const ref = system.spawn(recorder<number>([], 2))
  assert.equal(
    [1, 2, 3].map(number => ref.tell(number)),
    [true, true, false],
  )
  assert.equal(letters, [{ address: ref.address, reason: 'mailbox-full', message: 3 }])
  assert.equal(system.deadLetters(), { total: 1, byReason: { 'mailbox-full': 1 } })
  const refused = await system.ask(system.ref<CounterMessage>(ref.address), count, 1_000).catch(error => error)
  assert.ok(hasTag(refused, 'dead-letter'))
  await system.stop()
})

test('what is no data is refused where it is sent', async () => {
  const { system } = makeTestSystem()
  const ref = system.spawn(recorder<unknown>([]))
  assert.is(
    ref.tell(() => 'code'),
    false,
  )
  assert.equal(system.deadLetters().byReason, { 'not-data': 1 })
  await system.stop()
})

test.run()
