import type { SandboxListItem } from '@daytona/api-client'
import * as assert from 'uvu/assert'
import { anchorsOf, goesBefore } from '../../../../src/runtimes/daytona/provider-pool/whose-pool.ts'
import { suite } from '../../../support/suite.ts'

const test = suite('whose pool')

const POOL = { id: 'pool-1', snapshot: 'calc', target: 'us', createdAt: '2025-01-01T12:00:00Z' }

function anchor(parts: Partial<SandboxListItem>): SandboxListItem {
  return {
    id: 'a',
    name: 'a',
    organizationId: 'o',
    snapshot: 'calc',
    target: 'us',
    user: 'agent',
    public: false,
    networkBlockAll: false,
    cpu: 1,
    gpu: 0,
    memory: 1,
    disk: 3,
    toolboxProxyUrl: 'http://127.0.0.1',
    createdAt: '2025-01-01T11:59:58Z',
    labels: {},
    ...parts,
  }
}

const isIts = (parts: Partial<SandboxListItem>) => anchorsOf(POOL, [anchor(parts)]).length === 1

test('an anchor that names the pool is its anchor wherever it is, and one that names another is not', () => {
  assert.ok(isIts({ labels: { 'troupe-pool': 'pool-1' }, target: 'eu', createdAt: '2024-01-01' }))
  assert.not.ok(isIts({ labels: { 'troupe-pool': 'pool-2' } }))
})

test('one that names none is the anchor of the pool that was made soon after it in its place', () => {
  assert.ok(isIts({}))
  assert.not.ok(isIts({ target: 'eu' }))
  assert.not.ok(isIts({ snapshot: 'other' }))
  assert.not.ok(isIts({ createdAt: '2025-01-01T12:00:01Z' }), 'younger than the pool')
  assert.not.ok(isIts({ createdAt: '2025-01-01T11:00:00Z' }), 'an hour before the pool')
})

test('of two that want one pool exactly one goes before the other', () => {
  const mark = (id: string, since: number) => ({
    id,
    since,
    listed: anchor({ id, labels: { 'troupe-since': `${since}` } }),
  })
  for (const [one, other] of [
    [mark('a', 1), mark('b', 2)],
    [mark('b', 1), mark('a', 2)],
    [mark('a', 1), mark('b', 1)],
  ] as const) {
    assert.ok(goesBefore(one.listed, other))
    assert.not.ok(goesBefore(other.listed, one))
  }
  assert.ok(goesBefore(anchor({ labels: { 'troupe-since': '9', 'troupe-pool': 'pool-1' } }), { id: 'a', since: 1 }))
})

test.run()
