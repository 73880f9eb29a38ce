import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { systemClock } from '../../../src/clock.ts'
import { makeBaseDirectory } from '../../../src/environment/workspace/base-directory.ts'
import { DEFAULT_LIMITS } from '../../../src/environment/workspace/limits.ts'
import { makeOwners } from '../../../src/environment/workspace/owners.ts'
import { probe, weaknessOf } from '../../../src/environment/workspace/preflight.ts'
import { readSystemView } from '../../../src/environment/workspace/system-view.ts'
import { suite } from '../../support/suite.ts'

const test = suite('preflight of a sandbox')

/** What works here, with the filter as it is made or with `filter` in its file. */
async function probeWith(filter?: string) {
  const base = await makeBaseDirectory()
  const owners = makeOwners()
  const owner = owners.claim()
  try {
    const view = await readSystemView(base.etc)
    if (filter !== undefined) await writeFile(join(base.etc, 'syscall-filter'), filter)
    const settings = { view, network: false, limits: DEFAULT_LIMITS }
    return await probe(settings, await base.make('probe', owner), owner, systemClock)
  } finally {
    owners.release(owner)
    await base.remove()
  }
}

test('with the filter of system calls nothing is said', async () => {
  const settings = await probeWith()
  assert.ok(settings.view?.filter)
  assert.is(weaknessOf(settings), undefined)
})

test('a filter that is not taken is left out, and that is said', async () => {
  const settings = await probeWith('no filter')
  assert.is(settings.view?.filter, undefined)
  const weakness = weaknessOf(settings)
  assert.is(weakness?.tag, 'isolation-weakened')
  assert.match(weakness?.message ?? '', /without one.*Use a kernel with seccomp/)
})

test('where nothing isolates there is nothing to weaken', () => {
  assert.is(weaknessOf({ view: undefined, network: false, limits: DEFAULT_LIMITS }), undefined)
})

test.run()
