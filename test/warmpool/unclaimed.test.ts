import { EventEmitter, once } from 'node:events'
import * as assert from 'uvu/assert'
import { fullSince, watchUnclaimed, withLooks } from '../../src/warmpool/unclaimed.ts'
import { suite } from '../support/suite.ts'

const test = suite('looks at a provider’s pool')

const PLACE = { url: 'http://127.0.0.1:1', apiKey: 'key', sshPort: 1 }
const toLooks = (counts: readonly number[]) => counts.map((unclaimed, index) => ({ atMs: index * 50, unclaimed }))

test('it is full from when on it was never short again', () => {
  assert.is(fullSince(toLooks([0, 2, 4, 4]), 4), 100)
  assert.is(fullSince(toLooks([4, 1, 4]), 4), 100)
  assert.is(fullSince(toLooks([4, 5]), 4), 0)
  assert.is(fullSince(toLooks([4, 3]), 4), undefined)
  assert.is(fullSince([], 4), undefined)
})

test('each moment gets the last look before it, and the first where there was none', () => {
  const moment = { ready: 0, creating: 0, leased: 0, deleting: 0, parents: 0, providerReady: 9 }
  const moments = [0, 60, 1_000].map(atMs => ({ ...moment, atMs }))
  const looks = [
    { atMs: 5, unclaimed: 1 },
    { atMs: 55, unclaimed: 2 },
    { atMs: 105, unclaimed: 3 },
  ]
  assert.equal(
    withLooks(moments, looks).map(({ providerReady }) => providerReady),
    [1, 2, 3],
  )
  assert.equal(withLooks(moments, []), moments)
})

test('it looks while the work goes on and once more when it is over', async () => {
  const events = new EventEmitter()
  let unclaimed = 0
  const work = async () => {
    await once(events, 'looked') // the first
    unclaimed = 3
    await once(events, 'looked')
    unclaimed = 4
    return 'done'
  }
  const { value, looks } = await watchUnclaimed(PLACE, work, async () => {
    setImmediate(() => events.emit('looked'))
    return { unclaimed }
  })
  assert.is(value, 'done')
  assert.is(looks[0]?.unclaimed, 0)
  assert.is(looks.at(-1)?.unclaimed, 4)
})

const messageOf = (work: Promise<unknown>) =>
  work.then(
    () => 'nothing',
    (error: unknown) => (error instanceof Error ? error.message : error),
  )

test('work that fails, fails; a look that fails is told when the work is over', async () => {
  const failing = () => Promise.reject(new Error('no level'))
  const blind = () => Promise.reject(new Error('no emulator'))
  assert.is(await messageOf(watchUnclaimed(PLACE, failing, async () => ({ unclaimed: 0 }))), 'no level')
  assert.is(await messageOf(watchUnclaimed(PLACE, async () => 'done', blind)), 'no emulator')
  assert.is(await messageOf(watchUnclaimed(PLACE, failing, blind)), 'no level')
})

test.run()
