/** deploy/nats/users.conf on a real server: each role may do its part, and not another's. */
import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import { Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import * as assert from 'uvu/assert'
import { type ClusterRole, connectNats } from '../../src/cluster/connect.ts'
import { suite } from '../support/suite.ts'
import { withFiles } from '../support/temporary-directory.ts'
import { startSecuredNats } from './support/secured.ts'

const test = suite('permissions of the roles')

/** A connection for each role, to a server with TLS and `users.conf` as it stands. */
async function withRoles(body: (roles: Readonly<Record<ClusterRole, NatsConnection>>) => Promise<void>): Promise<void> {
  await withFiles({}, async directory => {
    const { nats, keys } = await startSecuredNats(directory)
    await using _nats = nats
    const connect = (role: ClusterRole) =>
      connectNats({ urls: nats.urls, role, name: role, files: { ca: keys.ca, nkey: keys.nkeys[role] } })
    const [coordinator, worker, observer] = await Promise.all([
      connect('coordinator'),
      connect('worker'),
      connect('observer'),
    ])
    try {
      await body({ coordinator, worker, observer })
    } finally {
      await Promise.all([coordinator, worker, observer].map(connection => connection.close()))
    }
  })
}

/** What the server says to a publication: nothing where it is let through. */
async function refusalOf(connection: NatsConnection, subject: string): Promise<string | undefined> {
  return connection.request(subject, '{}', { timeout: 2_000 }).then(
    () => undefined,
    (error: Error) => (isViolation(error) ? error.message : undefined),
  )
}

/** The same of a subscription. */
function deafnessOf(connection: NatsConnection, subject: string): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const subscription = connection.subscribe(subject, {
      callback: error => void (error !== null && resolve(error.message)),
    })
    // The server answers in order: when it has answered this, it has let the subscription through.
    connection.flush().then(() => {
      subscription.unsubscribe()
      resolve(undefined)
    }, reject)
  })
}

function isViolation(error: unknown): boolean {
  return error instanceof Error && (error.name === 'PermissionViolationError' || isViolation(error.cause))
}

test('a worker can write no plan, make no stream and read no result, and nobody hears another role’s answers', () =>
  withRoles(async ({ coordinator, worker, observer }) => {
    const manager = await jetstreamManager(coordinator)
    await manager.streams.add({ name: 'TROUPE_PLANS', subjects: ['troupe.plans.*'] })
    await manager.streams.add({ name: 'TROUPE_RESULTS', subjects: ['troupe.results.*.*'] })
    assert.is((await jetstream(coordinator).publish('troupe.plans.job', 'plan')).seq, 1)
    assert.is((await jetstream(worker).publish('troupe.results.job.group', 'result')).seq, 1)

    for (const subject of [
      'troupe.plans.job',
      'troupe.dead.job',
      '$JS.API.STREAM.CREATE.MINE',
      '$JS.API.STREAM.DELETE.TROUPE_RESULTS',
      '$JS.API.STREAM.PURGE.TROUPE_PLANS',
      '$JS.API.STREAM.MSG.GET.TROUPE_RESULTS',
      '$JS.API.CONSUMER.CREATE.TROUPE_RESULTS',
      '$JS.API.CONSUMER.MSG.NEXT.TROUPE_RESULTS.results-job',
      '$JS.API.CONSUMER.DELETE.TROUPE_PLANS.plans-job',
      '$KV.troupe-jobs.job',
      '$KV.troupe-policy.job',
      '$JS.API.STREAM.MSG.GET.KV_troupe-leases',
      'troupe.jobs',
      'troupe.limits',
      'troupe.node.worker.worker-2',
    ])
      assert.match((await refusalOf(worker, subject)) ?? '', /Permissions Violation for Publish/i, `worker: ${subject}`)
    for (const subject of [
      'troupe.plans.*',
      'troupe.results.>',
      'troupe.>',
      '>',
      '_INBOX.coordinator.>',
      'troupe.node.coordinator.*',
      'troupe.limits',
      '$JS.ACK.>',
    ])
      assert.match(
        (await deafnessOf(worker, subject)) ?? '',
        /Permissions Violation for Subscription/i,
        `worker: ${subject}`,
      )

    for (const subject of [
      'troupe.plans.job',
      'troupe.results.job.group',
      'troupe.node.worker.worker-1',
      '$JS.API.STREAM.MSG.GET.TROUPE_RESULTS',
      '$JS.API.STREAM.PURGE.TROUPE_PLANS',
      '$KV.troupe-workers.mine',
      '$KV.troupe-leases.job.mine',
      '$KV.troupe-policy.job',
    ])
      assert.match(
        (await refusalOf(observer, subject)) ?? '',
        /Permissions Violation for Publish/i,
        `observer: ${subject}`,
      )
    for (const subject of ['troupe.>', '_INBOX.worker.>', '_INBOX.coordinator.>'])
      assert.match((await deafnessOf(observer, subject)) ?? '', /Permissions Violation/i, `observer: ${subject}`)
    assert.match(
      (await refusalOf(coordinator, 'troupe.results.job.group')) ?? '',
      /Violation/,
      'results are of workers',
    )
    for (const subject of ['troupe.limits', 'troupe.node.coordinator.job-2'])
      assert.is(await refusalOf(coordinator, subject), undefined, `coordinators share limits: ${subject}`)
    assert.is(await deafnessOf(coordinator, 'troupe.limits'), undefined)
    assert.match((await deafnessOf(coordinator, '_INBOX.worker.>')) ?? '', /Violation/)
  }))

test('an observer sees how full the streams are, who works and has sandboxes, and each version of a policy; workers see that, too', () =>
  withRoles(async ({ coordinator, worker, observer }) => {
    await (await jetstreamManager(coordinator)).streams.add({ name: 'TROUPE_PLANS', subjects: ['troupe.plans.*'] })
    await jetstream(coordinator).publish('troupe.plans.job', 'plan')
    await new Kvm(coordinator).create('troupe-workers')
    await (await new Kvm(worker).open('troupe-workers')).put('worker-1', 'here')
    const seen = await (await jetstreamManager(observer)).streams.info('TROUPE_PLANS')
    assert.is(seen.state.messages, 1)
    const line = await (await new Kvm(observer).open('troupe-workers')).get('worker-1')
    assert.is(line?.string(), 'here')

    await new Kvm(coordinator).create('troupe-leases')
    await (await new Kvm(worker).open('troupe-leases')).put('job.worker-1', 'mine')
    const lease = await (await new Kvm(observer).open('troupe-leases')).get('job.worker-1')
    assert.is(lease?.string(), 'mine')
    const policy = await new Kvm(coordinator).create('troupe-policy', { history: 8 })
    for (const version of ['one', 'two']) await policy.put('job', version)
    const history = await (await new Kvm(observer).open('troupe-policy')).history()
    const versions: string[] = []
    for await (const entry of history) versions.push(entry.string())
    assert.equal(versions, ['one', 'two'])
    const served = await (await new Kvm(worker).open('troupe-policy')).watch()
    for await (const entry of served) {
      assert.is(entry.string(), 'two')
      break
    }
  }))

test.run()
