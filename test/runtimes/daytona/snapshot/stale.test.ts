import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { systemClock } from '../../../../src/clock.ts'
import type { Emulator } from '../../../../src/emulator/index.ts'
import type { Account } from '../../../../src/runtimes/daytona/account/account.ts'
import { callDaytona } from '../../../../src/runtimes/daytona/account/call.ts'
import { deleteSnapshot, ensureSnapshot, findStaleSnapshots } from '../../../../src/runtimes/daytona/snapshot/index.ts'
import { listSnapshots } from '../../../../src/runtimes/daytona/snapshot/look.ts'
import { suite } from '../../../support/suite.ts'
import { withFiles } from '../../../support/temporary-directory.ts'
import { makeSnapshot, open, untilState, withAccount } from './scene.ts'

const test = suite('stale snapshots')

const DAY_MS = 24 * 60 * 60_000

test('unused ones are found after a day, but for two of each base and those that a sandbox or a pool is of', () =>
  withAccount(async (account, emulator) => {
    const names = ['1', '2', '3', '4', '5', '6'].map(digit => `calc-${digit.repeat(12)}`)
    const all = [...names, 'calc-111', 'other-111111111111']
    for (const name of all) await makeSnapshot(account, name, 'FROM node:22')
    for (const name of all) await untilState(account, name, 'active')
    const [, used = '', pooled = ''] = names
    await callDaytona('create', () => account.sandboxes.createSandbox({ snapshot: used }))
    await callDaytona('create', () => account.warmPools.createWarmPool({ snapshot: pooled, pool: 0 }))
    const later = await openLater(emulator)
    const found = async (base?: string) => (await findStaleSnapshots(later, base)).map(({ name }) => name)
    assert.equal(await findStaleSnapshots(account), [], 'not yet')
    assert.equal((await found('calc')).sort(), [names[0], ...names.slice(3)])
    assert.equal(await found('other'), [])
    assert.is((await found()).length, 4)
    await withFiles({ Dockerfile: 'FROM node:22\n' }, directory =>
      ensureSnapshot(later, { name: 'calc', image: join(directory, 'Dockerfile') }),
    )
    const left = (await listSnapshots(account, 'calc')).map(({ name }) => name).filter(name => names.includes(name))
    assert.equal(left, [used, pooled], 'a build sweeps up behind itself')
    const [kept] = await listSnapshots(account, 'other')
    if (kept === undefined) throw new Error('it must be there')
    await deleteSnapshot(account, kept)
    await deleteSnapshot(account, kept)
    assert.equal(await listSnapshots(account, 'other'), [])
    await later.release()
  }))

const openLater = (emulator: Emulator): Promise<Account> =>
  open(emulator, undefined, { ...systemClock, wallTime: () => systemClock.wallTime() + 2 * DAY_MS })

test.run()
