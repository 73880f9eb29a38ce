import * as assert from 'uvu/assert'
import { hasTag } from '../../src/errors.ts'
import { toGroupId, toJobId, toRunId } from '../../src/ids.ts'
import type { Journal } from '../../src/journal/journal.ts'
import { packTrajectory, unpackTrajectory } from '../../src/rollout/pack.ts'
import { collect, makeGroupRecord, makeHeader, makeTrajectory } from '../journal/fixtures.ts'
import { suite } from '../support/suite.ts'

const jobId = toJobId('job-1')

/** What every journal does. `open` gives a fresh one and how to get rid of it. */
export function journalContract(
  name: string,
  open: () => Promise<{ readonly journal: Journal; readonly remove: () => Promise<void> }>,
): void {
  const test = suite(`journal contract: ${name}`)
  const withJournal = (body: (journal: Journal) => Promise<void>) => async () => {
    const { journal, remove } = await open()
    try {
      await body(journal)
    } finally {
      await journal.close()
      await remove()
    }
  }

  test(
    'a run is found again, its trajectory byte for byte and its own to transfer',
    withJournal(async journal => {
      const trajectory = packTrajectory(makeTrajectory())
      const header = makeHeader({ bytes: trajectory.byteLength })
      await journal.putRun(header, trajectory)
      structuredClone(trajectory, { transfer: [trajectory.buffer] })
      const found = await journal.run(header.runId)
      assert.equal(found?.header, header)
      assert.ok(found)
      assert.is(found.trajectory.byteLength, found.trajectory.buffer.byteLength)
      assert.equal(unpackTrajectory(found.trajectory), makeTrajectory())
      assert.is(await journal.run(toRunId('another')), undefined)
    }),
  )

  test(
    'the first terminal attempt wins',
    withJournal(async journal => {
      const puts = [1, 2, 3].map(attempt => journal.putRun(makeHeader({ attempt }), Uint8Array.of(attempt)))
      await Promise.all(puts)
      await journal.putRun(makeHeader({ attempt: 4, step: 0 }), Uint8Array.of(4))
      const found = await journal.run(makeHeader().runId)
      assert.is(found?.header.attempt, 1)
      assert.equal([...(found?.trajectory ?? [])], [1])
      assert.is((await collect(journal.runs(jobId))).length, 1)
    }),
  )

  test(
    'runs come in the order they were planned, of one job only, however many there are',
    withJournal(async journal => {
      const places = Array.from({ length: 600 }, (_, place) => ({
        step: place % 2,
        index: Math.floor(place / 2) % 100,
        member: Math.floor(place / 200),
      }))
      const shuffled = [...places].sort((a, b) => ((a.index * 7) % 100) - ((b.index * 7) % 100))
      const others = ['job-', 'job-10', 'job-2', 'job'].map(id =>
        journal.putRun(makeHeader({ jobId: toJobId(id), runId: toRunId(`of ${id}`) }), new Uint8Array(0)),
      )
      await Promise.all([...others, ...shuffled.map(place => journal.putRun(makeHeader(place), new Uint8Array(1)))])
      const found = (await collect(journal.runs(jobId))).map(({ step, index, member }) => ({ step, index, member }))
      assert.equal(
        found,
        [...places].sort((a, b) => a.step - b.step || a.index - b.index || a.member - b.member),
      )
      assert.equal(await collect(journal.runs(toJobId('job-3'))), [])
    }),
  )

  test(
    'every group is pending, consumed or dropped, and is settled once',
    withJournal(async journal => {
      for (const index of [2, 0, 1]) await journal.putGroup(makeGroupRecord({ index, runs: [makeHeader({ index })] }))
      const settle = (index: number, to: 'consumed' | 'dropped', reason?: string) =>
        journal.settleGroup(jobId, toGroupId(`group-0-${index}`), to, reason)
      const twice = await Promise.all([settle(0, 'consumed'), settle(0, 'consumed')])
      assert.equal(twice, [true, false])
      assert.is(await settle(0, 'dropped', 'stale'), false)
      assert.is(await settle(1, 'dropped', 'stale'), true)
      await journal.putGroup(makeGroupRecord({ index: 0 }))
      const groups = await collect(journal.groups(jobId))
      assert.equal(
        groups.map(({ index, consumption, reason, runs }) => [index, consumption, reason, runs.length]),
        [
          [0, 'consumed', undefined, 1],
          [1, 'dropped', 'stale', 1],
          [2, 'pending', undefined, 1],
        ],
      )
    }),
  )

  test(
    'a group that ended dropped is never pending, and an unknown one cannot be settled',
    withJournal(async journal => {
      const end = { type: 'dropped', reason: 'member-lost' } as const
      await journal.putGroup(makeGroupRecord({ end }))
      const [group] = await collect(journal.groups(jobId))
      assert.equal([group?.consumption, group?.reason, group?.end], ['dropped', 'member-lost', end])
      assert.is(await journal.settleGroup(jobId, toGroupId('group-0-0'), 'consumed'), false)
      await rejectsWith('unknown-group', journal.settleGroup(jobId, toGroupId('none'), 'consumed'))
    }),
  )

  test(
    'jobs come in the order they started, and putting one again replaces it',
    withJournal(async journal => {
      const job = (id: string, startedAt: number) => ({
        jobId: toJobId(id),
        name: id,
        startedAt,
        seed: 1,
        settings: { group: 8 },
      })
      await journal.putJob(job('late', 2))
      await journal.putJob(job('early', 1))
      await journal.putJob({ ...job('late', 3), seed: 9 })
      assert.equal(await journal.jobs(), [job('early', 1), { ...job('late', 3), seed: 9 }])
    }),
  )

  test(
    'records are kept by job and key, replaced when put again, and come in the order of their keys',
    withJournal(async journal => {
      const other = toJobId('job-10')
      const value = { loss: -1.5, groups: ['a', 'b'], none: null, nested: { at: 3 } }
      await Promise.all([
        journal.putRecord(jobId, 'steps/000010', 10),
        journal.putRecord(jobId, 'steps/000002', value),
        journal.putRecord(jobId, 'step', 'short'),
        journal.putRecord(jobId, 'step', 'shorter'),
        journal.putRecord(other, 'steps/000001', 'of another job'),
      ])
      await journal.putRecord(jobId, 'steps/000010', 'ten')
      assert.equal(await collect(journal.records(jobId, 'steps/')), [
        { key: 'steps/000002', value },
        { key: 'steps/000010', value: 'ten' },
      ])
      assert.equal((await collect(journal.records(jobId, ''))).slice(0, 1), [{ key: 'step', value: 'shorter' }])
      assert.equal(await collect(journal.records(toJobId('job-2'), '')), [])
    }),
  )

  test('closing twice is closing once; afterwards everything is refused', async () => {
    const { journal, remove } = await open()
    const onItsWay = journal.putRun(makeHeader(), new Uint8Array(1))
    await Promise.all([journal.close(), journal.close(), onItsWay])
    await rejectsWith('journal-closed', journal.putRun(makeHeader(), new Uint8Array(1)))
    await rejectsWith('journal-closed', journal.run(makeHeader().runId))
    await rejectsWith('journal-closed', collect(journal.runs(jobId)))
    await rejectsWith('journal-closed', journal.putRecord(jobId, 'key', 1))
    await rejectsWith('journal-closed', collect(journal.records(jobId, '')))
    await remove()
  })

  test.run()
}

export async function rejectsWith(tag: string, promise: Promise<unknown>): Promise<Error> {
  try {
    await promise
  } catch (error) {
    assert.ok(hasTag(error, tag), `expected ${tag}, got ${error}`)
    return error
  }
  throw new Error(`should have been rejected with ${tag}`)
}
