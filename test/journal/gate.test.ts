import * as assert from 'uvu/assert'
import { systemClock } from '../../src/clock.ts'
import { type Gate, openGate } from '../../src/journal/gate.ts'
import { rejectsWith } from '../contracts/journal.ts'
import { suite } from '../support/suite.ts'
import { settle, VirtualClock } from '../support/virtual-clock.ts'
import { withDirectory } from './temporary.ts'

const test = suite('journal gate')

const withGates =
  (body: (clock: VirtualClock, one: Gate, two: Gate, opener: Gate) => Promise<void>) => (): Promise<void> =>
    withDirectory(async directory => {
      const clock = new VirtualClock()
      const open = () => openGate(directory, clock)
      const [one, two, opener] = [open(), open(), open()]
      try {
        await body(clock, one, two, opener)
      } finally {
        for (const gate of [one, two, opener]) gate.close()
      }
    })

/** What happens, in its order. */
function trace() {
  const events: string[] = []
  return { events, note: (event: string) => () => void events.push(event) }
}

test(
  'many commit at once, and who wants to be alone waits for the last of them',
  withGates(async (clock, one, two, opener) => {
    const { events, note } = trace()
    await one.enter()
    await one.enter()
    await two.enter()
    const opening = opener.alone(note('alone')).then(note('done'))
    one.leave()
    two.leave()
    await clock.advance(100)
    assert.equal(events, [])
    one.leave()
    await clock.advance(100)
    await opening
    assert.equal(events, ['alone', 'done'])
  }),
)

test(
  'nobody commits while somebody is alone',
  withGates(async (clock, one, _, opener) => {
    const { events, note } = trace()
    let end = () => {}
    const opening = opener.alone(() => new Promise<void>(resolve => (end = resolve))).then(note('opened'))
    await settle()
    const entering = one.enter().then(note('entered'))
    await clock.advance(100)
    assert.equal(events, [])
    end()
    await clock.advance(100)
    await Promise.all([opening, entering])
    assert.equal(events, ['opened', 'entered'])
    one.leave()
  }),
)

test(
  'who commits on and on lets others be alone all the same',
  withGates(async (clock, one, _, opener) => {
    const { events, note } = trace()
    await one.enter()
    const opening = opener.alone(note('alone'))
    await settle()
    await one.enter()
    one.leave()
    await clock.advance(30)
    const late = one.enter().then(note('late'))
    await clock.advance(100)
    assert.equal(events, [], 'one is still inside')
    one.leave()
    await clock.advance(100)
    await Promise.all([opening, late])
    assert.equal(events, ['alone', 'late'])
    one.leave()
  }),
)

test(
  'a commit that does not end, and one that is alone for ever, are told after half a minute',
  withGates(async (clock, one, _, opener) => {
    await one.enter()
    const opening = rejectsWith(
      'journal-busy',
      opener.alone(() => {}),
    )
    await clock.advance(30_100)
    assert.match((await opening).message, 'somebody has been in the middle of that for 30 s')
    one.leave()

    let end = () => {}
    const alone = opener.alone(() => new Promise<void>(resolve => (end = resolve)))
    await settle()
    const entering = rejectsWith('journal-busy', one.enter())
    await clock.advance(30_100)
    await entering
    end()
    await alone
    await one.enter()
    one.leave()
  }),
)

test('a gate is left as it was by work that fails', () =>
  withDirectory(async directory => {
    const [one, two] = [openGate(directory, systemClock), openGate(directory, systemClock)]
    const failed = await one
      .alone(() => {
        throw new Error('no')
      })
      .then(
        () => 'done',
        (error: Error) => error.message,
      )
    assert.is(failed, 'no')
    await two.enter()
    two.leave()
    one.close()
    two.close()
  }))

test.run()
