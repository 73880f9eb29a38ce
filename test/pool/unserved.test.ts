import * as fc from 'fast-check'
import * as assert from 'uvu/assert'
import { toLeaseId, toRunId } from '../../src/ids.ts'
import type { LeaseRequest } from '../../src/pool/lease-queue.ts'
import { makeUnserved } from '../../src/pool/unserved.ts'
import { suite } from '../support/suite.ts'
import { task } from './simulation.ts'

const test = suite('pool unserved')

const nobody = { address: 'nobody', tell: () => true }

function request(index: number, retryAt = 0): LeaseRequest {
  return {
    leaseId: toLeaseId(`lease-${index}`),
    runId: toRunId(`run-${index}`),
    task,
    owner: nobody,
    replyTo: nobody,
    arrivedAt: 0,
    deadlineAt: 1_000,
    failures: 0,
    retryAt,
    creating: undefined,
  }
}

test('a request that rests is due at its time, and counts all along', () => {
  const unserved = makeUnserved()
  unserved.add(request(1, 50), 0)
  assert.equal([unserved.size, unserved.due(49), unserved.nextAt()], [1, undefined, 50])
  assert.is(unserved.any()?.leaseId, 'lease-1')
  assert.is(unserved.due(50)?.leaseId, 'lease-1')
  assert.is(unserved.nextAt(), Number.NEGATIVE_INFINITY)
})

test('whatever rests, is taken out or put to rest anew: what is due is what a plain list says', () => {
  const move = fc.record({ index: fc.nat(5), restMs: fc.nat(20), out: fc.boolean(), passMs: fc.nat(8) })
  fc.assert(
    fc.property(fc.array(move, { maxLength: 60 }), moves => {
      const unserved = makeUnserved()
      const list = new Map<number, LeaseRequest>()
      let now = 0
      for (const { index, restMs, out, passMs } of moves) {
        now += passMs
        const known = list.get(index)
        if (known !== undefined) unserved.delete(known.leaseId)
        list.delete(index)
        if (!out) {
          const added = known ?? request(index)
          added.retryAt = now + restMs
          unserved.add(added, now)
          list.set(index, added)
        }
        const due = [...list.values()].filter(({ retryAt }) => retryAt <= now)
        assert.is(unserved.due(now) === undefined, due.length === 0)
        assert.is(unserved.size, list.size)
        const next = Math.min(...[...list.values()].map(({ retryAt }) => retryAt))
        if (due.length === 0) assert.is(unserved.nextAt(), next)
      }
    }),
  )
})

test.run()
