/** Leases, the job's board and the policy's, on a real server without an engine. */

import { jetstreamManager } from '@nats-io/jetstream'
import { Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import * as assert from 'uvu/assert'
import { systemClock } from '../../src/clock.ts'
import { connectNats } from '../../src/cluster/connect.ts'
import { jobTakenOver } from '../../src/cluster/errors.ts'
import { claimJob } from '../../src/cluster/job-claim.ts'
import { openLeaseBook, type SeenLease } from '../../src/cluster/lease-book.ts'
import { type Lease, makeLeases } from '../../src/cluster/leases.ts'
import { openPolicyBoard, type PolicyLine } from '../../src/cluster/policy-board.ts'
import { ensureStreams } from '../../src/cluster/streams.ts'
import { hasTag } from '../../src/errors.ts'
import { until } from '../end-to-end/scene.ts'
import { suite } from '../support/suite.ts'
import { readBucket } from './support/buckets.ts'
import { type Nats, startNats } from './support/nats.ts'

const test = suite('what is at the servers of a job')

const fail = (error: unknown): never => assert.unreachable(String(error)) as never
const WHO = { owner: 'far~1~2~3', node: 'worker-far', host: 'far' }

async function withBuckets(body: (connection: NatsConnection, nats: Nats, url: string) => Promise<void>) {
  await using nats = await startNats()
  const [url = ''] = nats.urls
  const connection = await connectNats({ urls: url, role: 'coordinator', name: 'test' })
  try {
    await ensureStreams(connection, await jetstreamManager(connection))
    await body(connection, nats, url)
  } finally {
    await connection.close()
  }
}

test('a lease waits for its server, stays while anybody holds it or something is left, and is given back once', () =>
  withBuckets(async (connection, nats, url) => {
    const leases = makeLeases(connection, WHO)
    const troubles: unknown[] = []
    const never = new AbortController().signal
    const ports = { clock: systemClock, signal: never, onTrouble: (error: unknown) => void troubles.push(error) }
    const read = async () => [...(await readBucket<Lease>(url, 'troupe-leases')).keys()]
    const [server] = nats.servers
    await server?.kill()
    let isTaken = false
    const taking = leases.take('job-1', 'daytona', ports).then(lease => {
      isTaken = true
      return lease
    })
    await until(
      () => troubles.length > 0,
      () => 'it tells that it waits',
    )
    assert.not.ok(isTaken)
    await server?.start()
    const former = await taking
    // Of the next life of the job, before the former has ended here.
    const next = await leases.take('job-1', 'daytona', ports)
    await former.giveBack(true)
    assert.equal(await read(), ['job-1.worker-far'])
    await next.giveBack(true)
    assert.equal(await read(), [])

    const left = await leases.take('job-2', 'docker', ports)
    await left.giveBack(false)
    await (await leases.take('job-2', 'docker', ports)).giveBack(true)
    assert.equal(await read(), ['job-2.worker-far'])
    assert.is(troubles.length, 1)
  }))

test('a lease that is written anew while its owner is thought dead stays, and one that is not goes', () =>
  withBuckets(async (connection, _, url) => {
    const ports = { clock: systemClock, signal: new AbortController().signal, onTrouble: fail }
    const back = await makeLeases(connection, WHO).take('job-1', 'daytona', ports)
    await makeLeases(connection, { ...WHO, owner: 'dead', node: 'worker-dead' }).take('job-1', 'daytona', ports)
    await makeLeases(connection, { ...WHO, owner: 'other' }).take('job-10', 'daytona', ports)
    let seen: readonly SeenLease[] = []
    const book = openLeaseBook(connection, {
      jobId: 'job-1',
      clock: systemClock,
      lookMs: 20,
      onSeen: leases => {
        seen = leases
      },
      onError: fail,
    })
    const ownersSeen = () => seen.map(({ owner }) => owner).sort()
    await until(
      () => seen.length === 2,
      () => JSON.stringify(seen),
    )
    assert.equal(ownersSeen(), ['dead', WHO.owner])
    const before = seen.find(({ owner }) => owner === WHO.owner)?.seenAt ?? 0
    const forgets = [WHO.owner, 'dead'].map(book.reaping)
    await back.renew(new AbortController().signal)
    for (const forget of forgets) forget()
    await until(
      () => seen.length === 1 && (seen[0]?.seenAt ?? 0) > before,
      () => JSON.stringify(seen),
    )
    assert.equal(ownersSeen(), [WHO.owner])
    await book.close()
    assert.equal([...(await readBucket(url, 'troupe-leases')).keys()].sort(), ['job-1.worker-far', 'job-10.worker-far'])
  }))

test('of two coordinators the later has the job: the earlier neither writes to the board nor takes the job from it', () =>
  withBuckets(async (connection, _, url) => {
    const over = new AbortController()
    const lost: unknown[] = []
    const claim = (epoch: string) =>
      claimJob(connection, {
        jobId: 'job-1',
        own: { epoch, host: 'h' },
        clock: systemClock,
        signal: over.signal,
        lookMs: 60_000,
        onLost: error => void lost.push(error),
        onError: fail,
      })
    const first = await claim('one')
    await first.write({ epoch: 'one', host: 'h' })
    await first.check()
    const second = await claim('two')
    assert.ok(second.life > first.life)
    await first.write({ epoch: 'one', host: 'h' })
    assert.equal(lost, [first.lost])
    assert.ok(hasTag(first.lost, 'job-taken-over'))
    await second.check()
    over.abort()
    await first.close()
    assert.is((await readBucket<{ epoch: string }>(url, 'troupe-jobs')).get('job-1')?.at(-1)?.epoch, 'two')
    await second.close()
    assert.is((await readBucket(url, 'troupe-jobs')).size, 0)
    assert.is(lost.length, 1)
  }))

test('versions go over to the next life; the former writes none any more, and an older journal is refused', () =>
  withBuckets(async (connection, _, url) => {
    let holder = 'one'
    const over = new AbortController()
    const open = (epoch: string, known?: { step: number; version: string }) =>
      openPolicyBoard(connection, {
        jobId: 'job-1',
        epoch,
        known,
        clock: systemClock,
        signal: over.signal,
        checkClaim: async () => {
          if (holder !== epoch) throw jobTakenOver('job-1', { epoch, host: 'h' }, undefined)
        },
        onTrouble: () => {},
      })
    const first = await open('one')
    first.put({ step: 0, version: 'a' })
    first.put({ step: 1, version: 'b' })
    await first.flushed()
    for (const known of [undefined, { step: 0, version: 'a' }, { step: 1, version: 'c' }])
      try {
        await open('old', known)
        assert.unreachable()
      } catch (error) {
        assert.ok(hasTag(error, 'policy-ahead'), String(error))
      }
    holder = 'two'
    const second = await open('two', { step: 1, version: 'b' })
    await second.flushed()
    first.put({ step: 2, version: 'of nobody' })
    second.put({ step: 2, version: 'd' })
    await Promise.all([first.flushed(), second.flushed()])
    const lines = (await readBucket<PolicyLine>(url, 'troupe-policy')).get('job-1') ?? []
    assert.equal(
      lines.map(({ epoch, step, version }) => [epoch, step, version]),
      [
        ['one', 0, 'a'],
        ['one', 1, 'b'],
        ['two', 1, 'b'],
        ['two', 2, 'd'],
      ],
    )
    // As the error tells.
    await (await new Kvm(connection).open('troupe-policy')).delete('job-1')
    await (await open('two')).flushed()
    over.abort()
  }))

test.run()
