import * as assert from 'uvu/assert'
import { type Balance, checkConservation, type Fitting, NO_FAILURE, readKept } from './conservation.ts'
import { type FaultJob, type Outcome, perform } from './perform.ts'
import type { FaultScene } from './scene.ts'

export interface Survived {
  readonly outcome: Outcome
  readonly balance: Balance
}

/** Runs a job that has to come to its end whatever strikes, and checks its balance against the journal. */
export async function surviveWith(scene: FaultScene, faulty: FaultJob, fits: Fitting): Promise<Survived> {
  const outcome = await perform(scene, faulty)
  assert.equal([outcome.error, outcome.closing], [undefined, undefined])
  if (outcome.jobId === undefined) throw new Error('no job was begun')
  const kept = await readKept(scene.journal, outcome.jobId)
  for (const { end, consumption, groupId } of kept.groups)
    assert.is(consumption, end.type === 'dropped' ? 'dropped' : 'pending', groupId)
  return { outcome, balance: checkConservation(outcome, kept, fits) }
}

/** Likewise, for faults that must cost no rollout its grade. */
export async function allGraded(scene: FaultScene, faulty: FaultJob): Promise<Outcome> {
  const { outcome } = await surviveWith(scene, faulty, NO_FAILURE)
  for (const { runs, end } of outcome.groups) {
    assert.is(end.type, 'complete')
    for (const { reward, runId } of runs) assert.is(reward, 1, runId)
  }
  return outcome
}
