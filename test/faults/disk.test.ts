/** A disk that is full in the middle of a run. */
import * as assert from 'uvu/assert'
import { systemClock } from '../../src/clock.ts'
import type { JobId } from '../../src/ids.ts'
import { openLmdbJournal } from '../../src/journal/lmdb-journal.ts'
import { suite } from '../support/suite.ts'
import { surviveWith } from './harness/all-graded.ts'
import { checkConservation, NO_FAILURE, readKept } from './harness/conservation.ts'
import { withFaultScene } from './harness/scene.ts'
import { faultTest, runFaults } from './harness/seeds.ts'
import { runLimited, runOnSmallDisk } from './harness/start-child.ts'

const test = suite('faults of the disk')

const MEMBERS = 2
const MIB = 2 ** 20
/** The journal keeps so much free; see lmdb-journal.ts. */
const KEPT_FREE_BYTES = 128 * MIB

async function findJob(directory: string): Promise<JobId> {
  const journal = await openLmdbJournal({ directory, clock: systemClock, role: 'owner', readOnly: true })
  try {
    const [job] = await journal.jobs()
    if (job === undefined) throw new Error('no job was begun')
    return job.jobId
  } finally {
    await journal.close()
  }
}

faultTest(
  test,
  'where nothing more can be written the run ends, what was kept is whole, and the same job goes on',
  { seeds: 3 },
  draw =>
    withFaultScene([], async scene => {
      const job = { groups: 6, members: MEMBERS, seed: draw.seed }
      const kibibytes = draw.whole(1_500, 5_000)
      // 7 MiB in all.
      const options = { threads: 1, maxConcurrent: 4 }
      const { outcome, stderr, exit } = await runLimited(scene, `-f ${kibibytes}`, { ...job, bytes: 600_000, options })
      // lmdb may reject a promise that nobody holds, which ends the process before it can tell.
      if (outcome === undefined) assert.match(stderr, /MDB|lmdb|EFBIG|File too large|Commit failed/i, `exit ${exit}`)
      else assert.is(outcome.error?.tag, 'journal-write-failed', stderr)

      const before = await readKept(scene.journal, await findJob(scene.journal))
      assert.ok(before.runs.length < job.groups * MEMBERS, `${kibibytes} KiB were enough`)
      if (outcome !== undefined) checkConservation(outcome, before, NO_FAILURE)
      const again = await surviveWith(scene, { ...job, options: { resume: true } }, NO_FAILURE)
      assert.equal(again.balance, { graded: job.groups * MEMBERS, failed: 0, pending: 0 })
      const after = await readKept(scene.journal, await findJob(scene.journal))
      for (const run of before.runs)
        assert.equal(
          after.runs.find(({ runId }) => runId === run.runId),
          run,
          'what was kept is not run again',
        )
      return 1
    }),
)

faultTest(test, 'before the disk is full the run ends and says so, and nothing is called lost', { seeds: 2 }, draw =>
  withFaultScene([], async scene => {
    const job = { groups: 16, members: MEMBERS, seed: draw.seed, bytes: MIB, options: { threads: 1, maxConcurrent: 4 } }
    const { outcome, kept, stderr } = await runOnSmallDisk(scene, KEPT_FREE_BYTES + draw.whole(3, 8) * MIB, job)
    if (outcome === undefined || kept === undefined) throw new Error(`the child did not tell: ${stderr}`)
    assert.is(outcome.error?.tag, 'journal-disk-full', JSON.stringify(outcome.error))
    const { graded, failed, pending } = checkConservation(outcome, kept, NO_FAILURE)
    assert.ok(graded > 0 && failed === 0 && pending > 0, JSON.stringify({ graded, failed, pending }))
    return 1
  }),
)

runFaults(test)
