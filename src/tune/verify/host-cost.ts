import type { JobShape } from '../../simulation/job.ts'
import { runEmulatedJob } from './emulated-job.ts'

/** So fast that nothing but this machine's own work takes time. */
const SPEED = 4_000
const JOB: JobShape = {
  rollouts: 32,
  group: 8,
  steps: 4,
  maxConcurrent: 32,
  arrivals: { type: 'batch' },
  durations: { type: 'measured', ms: [0] },
  gapMs: 0,
}

/** Milliseconds that this process, engine and emulator together, works on one rollout and its sandbox. */
export async function measureHostMs(signal?: AbortSignal): Promise<number> {
  const plan = { pool: { strategy: 'cold', size: 0 } } as const
  const { stepsMs } = await runEmulatedJob(JOB, plan, {
    seed: 1,
    speed: SPEED,
    ...(signal === undefined ? {} : { signal }),
  })
  // The first steps pay for what runs for the first time.
  const settled = stepsMs.slice(Math.floor(stepsMs.length / 2))
  return Math.min(...settled) / SPEED / JOB.rollouts
}
