import * as assert from 'uvu/assert'
import type { Account } from '../../../../src/runtimes/daytona/account/account.ts'
import { makeAnchor } from '../../../../src/runtimes/daytona/provider-pool/anchor.ts'
import { ANCHOR_LABEL } from '../../../../src/runtimes/daytona/provider-pool/anchor-labels.ts'
import { suite } from '../../../support/suite.ts'
import { settle, VirtualClock } from '../../../support/virtual-clock.ts'
import { withAccount } from './fixtures/account-scene.ts'
import { SNAPSHOT } from './fixtures/pool-of.ts'

const test = suite('daytona pool anchor')

const MINUTE_MS = 60_000

const options = () => ({
  snapshot: SNAPSHOT,
  labels: { 'troupe-job': 'job-1' },
  autoStopMinutes: 15,
  signal: new AbortController().signal,
})

test('it is touched every third of its time, its expiry renewed, and neither once it rests', () =>
  withAccount({}, async ({ account }) => {
    const clock = new VirtualClock(account.clock.wallTime())
    const calls: string[] = []
    const sandboxes: Account['sandboxes'] = Object.assign(Object.create(account.sandboxes), {
      updateLastActivity: async () => ({ data: calls.push('touched') }),
      replaceLabels: async (_id: string, { labels }: { labels: Record<string, string> }) => ({
        data: calls.push(labels['troupe-expiry'] ?? ''),
      }),
    })
    const anchor = await makeAnchor({ ...account, clock, sandboxes }, options())
    await clock.advance(5 * MINUTE_MS)
    assert.equal(calls, ['touched'])
    await clock.advance(30 * MINUTE_MS)
    assert.is(calls.filter(call => call === 'touched').length, 7)
    const expiries = calls.filter(call => call !== 'touched').map(Date.parse)
    assert.is(expiries.length, 1, 'when half of it has passed')
    const leftMinutes = ((expiries[0] ?? 0) - clock.wallTime()) / MINUTE_MS
    assert.ok(leftMinutes > 55 && leftMinutes <= 60, String(leftMinutes))
    anchor.rest()
    await settle()
    assert.is(clock.pending, 0)
  }))

test('between two touches of a long auto-stop its expiry does not pass', () =>
  withAccount({}, async ({ account }) => {
    const anchor = await makeAnchor(account, { ...options(), autoStopMinutes: 600 })
    anchor.rest()
    const { labels } = (await account.sandboxes.getSandbox(anchor.id)).data
    assert.ok(Date.parse(labels['troupe-expiry'] ?? '') - anchor.since >= 600 * 60_000)
  }))

test('it goes on existing for a week after the provider has stopped it, and says whose it is', () =>
  withAccount({}, async ({ account }) => {
    const anchor = await makeAnchor(account, options())
    anchor.rest()
    await anchor.mark('pool-1')
    const { data } = await account.sandboxes.getSandbox(anchor.id)
    assert.is(data.autoDeleteInterval, 7 * 24 * 60)
    assert.is(data.labels[ANCHOR_LABEL.pool], 'pool-1')
    assert.is(data.labels['troupe-job'], 'job-1')
    assert.match(data.labels['troupe-owner'] ?? '', /~/)
  }))

test('its create takes its turn with all creates of the process', () =>
  withAccount({}, async ({ account, emulator }) => {
    const clock = new VirtualClock()
    account.creates.pause(60_000)
    const made = makeAnchor({ ...account, clock }, options())
    await clock.advance(59_000)
    assert.is(emulator.counts.created, 0)
    await clock.advance(2_000)
    ;(await made).rest()
    assert.is(emulator.counts.created, 1)
  }))

test.run()
