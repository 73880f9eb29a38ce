import { type JobId, toJobId } from '../../../src/ids.ts'
import { makeProgress } from '../../../src/job/progress.ts'
import type { JobSnapshot } from '../../../src/job/snapshot.ts'
import type { PoolStats } from '../../../src/pool/stats.ts'
import type { Group } from '../../../src/rollout/group.ts'
import { packTrajectory, toRun } from '../../../src/rollout/pack.ts'
import type { KnownWorker } from '../../../src/telemetry/channels.ts'
import type { StepRecord } from '../../../src/training/records.ts'
import { makeHeader, makeTrajectory } from '../../journal/fixtures.ts'
import { VirtualClock } from '../../support/virtual-clock.ts'

export const jobId = toJobId('job-1')

/** A job of which only the id and the figures are looked at. */
export function jobOf(
  id: JobId = jobId,
  differing: () => Partial<JobSnapshot> = () => ({}),
): { readonly jobId: JobId; snapshot(): JobSnapshot } {
  const progress = makeProgress(new VirtualClock())
  progress.close()
  return {
    jobId: id,
    snapshot: () => ({ ...progress.snapshot({ waitingBytes: 0, creditsInUse: 0 }), ...differing() }),
  }
}

export function poolOf(differing: Partial<PoolStats> = {}): PoolStats {
  return {
    strategy: 'prewarm',
    source: 'create',
    target: 8,
    creating: 1,
    ready: 2,
    leased: 3,
    deleting: 1,
    quarantined: 0,
    parents: { kept: 0, forking: 0 },
    waiting: 4,
    created: 20,
    gone: 13,
    createFailures: 1,
    leases: { hit: 9, cold: 2, claim: 0, fork: 0 },
    breaker: undefined,
    ...differing,
  }
}

/** A worker that has room for eight. */
export function workerOf(given: Partial<KnownWorker> = {}): KnownWorker {
  const load = { rollouts: 0, groups: 0, credits: 8, runs: 0, rate: 0, sandboxes: null }
  return { node: 'worker-a', host: 'a', state: 'joined', ...load, since: 0, heardAt: 0, ...given }
}

export function groupOf(given: Partial<Group> = {}): Group {
  const header = makeHeader({ jobId })
  const run = toRun(header, packTrajectory(makeTrajectory()))
  const { groupId, step, index, task } = header
  return { jobId, groupId, step, index, task, end: { type: 'complete' }, runs: [run], bytes: run.bytes, ...given }
}

export function stepOf(given: Partial<StepRecord> = {}): StepRecord {
  return {
    step: 0,
    runs: 8,
    solved: 4,
    passRate: 0.5,
    errored: 0,
    groupSpread: 0.25,
    samples: 16,
    tokens: 640,
    rolloutMs: 2_000,
    loss: 12.5,
    datums: 16,
    chunks: 2,
    trainMs: 1_000,
    optimStep: 3,
    end: { type: 'trained', checkpointId: 'checkpoint-3' },
    groups: { planned: 1, trained: 1, withoutSpread: 0, added: 0, dropped: {} },
    learningRate: 0.1,
    versions: { base: 16 },
    wallMs: 2_500,
    ...given,
  }
}
