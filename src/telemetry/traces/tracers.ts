import type { JobId } from '../../ids.ts'
import type { RunHeader } from '../../rollout/run.ts'
import type { RunTrace } from './run-trace.ts'

/** Who draws a job's traces. None of it may throw. */
export interface JobTracer {
  /** The share of its runs that is drawn: 1 for all. */
  readonly share: number
  /** A run that ended. Without its trace where the thread that had it was lost, and where it had ended before this process. */
  runEnded(header: RunHeader, trace: RunTrace | undefined): void
}

/** Jobs of this process that are traced. An engine asks when it hands a group to a thread: nothing is carried for those that are not. */
const tracers = new Map<JobId, JobTracer>()

/** From now on; one at a time for each job. Returns how to stop. */
export function traceJob(jobId: JobId, tracer: JobTracer): () => void {
  tracers.set(jobId, tracer)
  return () => {
    if (tracers.get(jobId) === tracer) tracers.delete(jobId)
  }
}

/** Undefined where nobody draws that job. */
export const tracerOf = (jobId: JobId): JobTracer | undefined => tracers.get(jobId)
