import * as assert from 'uvu/assert'
import { systemClock } from '../../../src/clock.ts'
import type { JobId } from '../../../src/ids.ts'
import type { LedgerEntry } from '../../../src/journal/journal.ts'
import { openLmdbJournal } from '../../../src/journal/lmdb-journal.ts'
import type { GroupRecord } from '../../../src/rollout/group.ts'
import { unpackTrajectory } from '../../../src/rollout/pack.ts'
import type { RunHeader, StopReason } from '../../../src/rollout/run.ts'
import type { Outcome, SeenGroup } from './perform.ts'

/** A job's journal, read back by somebody else. */
export interface Kept {
  readonly runs: readonly RunHeader[]
  readonly groups: readonly (GroupRecord & LedgerEntry)[]
}

/** Which failures a fault may cause: why a run may stop, and the tags of its error. */
export interface Fitting {
  readonly stops: readonly StopReason[]
  readonly tags: readonly string[]
}

/** For faults after which every rollout is graded all the same. */
export const NO_FAILURE: Fitting = { stops: [], tags: [] }

export interface Balance {
  readonly graded: number
  readonly failed: number
  /** Neither: still to be done, which only a run that stopped early may leave. */
  readonly pending: number
}

/**
 * planned = graded + failed(reason) + pending, from the job's groups, from its snapshot and from its journal; every group in one terminal
 * state; no reward where nothing was graded; every failure with a reason that fits the fault.
 */
export function checkConservation(outcome: Outcome, kept: Kept, fits: Fitting): Balance {
  const { planned, groups, snapshot, error } = outcome
  assert.is(new Set(groups.map(({ groupId }) => groupId)).size, groups.length, 'a group ends once')
  const seen = groups.flatMap(({ runs }) => runs)
  assert.is(new Set(seen.map(({ runId }) => runId)).size, seen.length, 'a run ends once')
  for (const group of groups) {
    assert.is(group.runs.length, planned.runs / planned.groups, `all members of ${group.groupId}`)
    checkEnd(group)
  }
  for (const run of seen) checkRun(run, fits)
  if (error === undefined) assert.is(groups.length, planned.groups, 'every group came to its end')

  assert.is(snapshot?.plannedRuns, planned.runs)
  assert.is(snapshot?.finishedGroups, groups.length)
  const byOutcome = Object.values(snapshot?.byOutcome ?? {}).reduce((sum, count) => sum + count, 0)
  assert.is(byOutcome, snapshot?.finishedRuns, 'every finished run has one outcome')
  assert.ok((snapshot?.finishedRuns ?? 0) >= seen.length)
  if (error === undefined) assert.is(snapshot?.finishedRuns, planned.runs)
  if (error === undefined) assert.is(snapshot?.graded, seen.filter(({ reward }) => reward !== null).length)

  checkKept(kept, outcome)
  for (const run of kept.runs) checkRun(run, fits)
  const graded = kept.runs.filter(({ reward }) => reward !== null).length
  const failed = kept.runs.length - graded
  const pending = planned.runs - graded - failed
  assert.ok(pending >= 0 && (pending === 0 || error !== undefined), `${pending} runs are nowhere`)
  return { graded, failed, pending }
}

/** Opens the journal as a reader and unpacks every trajectory. */
export async function readKept(directory: string, jobId: JobId): Promise<Kept> {
  const journal = await openLmdbJournal({ directory, clock: systemClock, role: 'owner', readOnly: true })
  try {
    const runs: RunHeader[] = []
    const groups: (GroupRecord & LedgerEntry)[] = []
    for await (const run of journal.runs(jobId)) {
      const trajectory = unpackTrajectory(journal.trajectory(run.runId))
      assert.is(run.reward === null || trajectory.grade?.score === run.reward, true, 'a reward is what the grader said')
      runs.push(run)
    }
    for await (const group of journal.groups(jobId)) groups.push(group)
    return { runs, groups }
  } finally {
    await journal.close()
  }
}

function checkEnd({ groupId, end, runs }: SeenGroup): void {
  const graded = runs.filter(({ reward }) => reward !== null).length
  if (end.type === 'dropped') assert.is(graded, 0, `${groupId} was dropped with graded members`)
  else assert.ok(end.type === 'complete' && graded > 0, `${groupId} ended ${end.type}`)
}

function checkRun(run: RunHeader & { readonly score?: number | null }, fits: Fitting): void {
  const { runId, outcome, reward, stopReason, error, startedAt, endedAt, timings } = run
  const what = `${runId}: ${outcome} ${stopReason} ${error?.tag ?? ''} ${error?.message ?? ''}`
  assert.ok(Number.isFinite(startedAt) && startedAt > 0 && endedAt >= startedAt, `times of ${what}`)
  for (const ms of Object.values(timings)) assert.ok(ms >= 0 && ms < 600_000, `timings of ${what}`)
  if (reward !== null) {
    assert.ok(outcome === 'graded' || outcome === 'agent-error', what)
    if (run.score !== undefined) assert.is(run.score, reward, what)
    return
  }
  assert.is.not(outcome, 'graded', what)
  assert.ok(error !== undefined, `no reason: ${what}`)
  assert.ok(fits.stops.includes(stopReason), `does not fit: ${what}`)
  assert.ok(fits.tags.includes(error?.tag ?? ''), `does not fit: ${what}`)
}

function checkKept({ runs, groups }: Kept, outcome: Outcome): void {
  const byId = new Map(runs.map(run => [run.runId, run]))
  assert.is(byId.size, runs.length, 'a run is journaled once')
  for (const { groupId, end, runs: members } of outcome.groups) {
    const group = groups.find(each => each.groupId === groupId)
    assert.is(group?.end.type, end.type, `the journal has the end of ${groupId}`)
    if (end.type === 'dropped') assert.is(group?.consumption, 'dropped')
    for (const { runId, outcome: how, reward, attempt, stopReason } of members) {
      const run = byId.get(runId)
      assert.equal(
        [run?.outcome, run?.reward, run?.attempt, run?.stopReason],
        [how, reward, attempt, stopReason],
        `what was told of ${runId} is what is kept`,
      )
    }
  }
  assert.is(new Set(groups.map(({ groupId }) => groupId)).size, groups.length, 'a group is journaled once')
  if (outcome.error === undefined) assert.is(groups.length, outcome.groups.length)
}
