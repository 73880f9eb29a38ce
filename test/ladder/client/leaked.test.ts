import * as assert from 'uvu/assert'
import { countLeaked } from '../../../src/ladder/client/leaked.ts'
import { FakeRuntime } from '../../actors/fake-runtime.ts'
import { suite } from '../../support/suite.ts'

const test = suite('leaked sandboxes')

/** A runtime that lists, one after the other, what `listings` say; the last one for ever. */
function makeRuntime(listings: readonly (readonly string[])[]) {
  const runtime = new FakeRuntime()
  let at = 0
  return Object.assign(runtime, {
    list: async () => {
      const jobs = listings[Math.min(at++, listings.length - 1)] ?? []
      return jobs.map((job, index) => ({ id: `sandbox-${index}`, labels: { job } }))
    },
  })
}

const rest = (owned: number, atRest = true) => Promise.resolve({ owned, atRest })

test('what the pool owns on purpose, and what is of others, is not leaked', async () => {
  const runtime = makeRuntime([['mine', 'mine', 'other']])
  assert.is(await countLeaked(runtime, 'mine', () => rest(2), 0), 0)
})

test('what exists beyond that is', async () => {
  assert.is(await countLeaked(makeRuntime([['mine', 'mine', 'mine']]), 'mine', () => rest(1), 0), 2)
})

test('what is still being deleted is waited for', async () => {
  const runtime = makeRuntime([['mine', 'mine'], ['mine'], []])
  assert.is(await countLeaked(runtime, 'mine', () => rest(0), 10_000), 0)
})

test('a pool that does not come to rest has leaked something, whatever the provider lists', async () => {
  assert.is(await countLeaked(makeRuntime([[]]), 'mine', () => rest(0, false), 0), 1)
})

test('where the provider cannot tell, the books have to do', async () => {
  assert.is(await countLeaked(new FakeRuntime(), 'mine', () => rest(3), 0), 0)
})

test.run()
