import type { PathPiece } from './critical-path.ts'
import type { ExplainedStep, JobExplanation } from './explain-job.ts'

/** One document for programs: every step without its path, and the one that was picked whole. Times in milliseconds, `startedAt` since 1970. */
export function toJson(job: JobExplanation, picked: ExplainedStep): string {
  const { jobId, name, isOver } = job
  const steps = job.steps.map(({ timeline: _, path: __, trainerWaits: ___, ...step }) => step)
  const { timeline: _, ...step } = picked
  return JSON.stringify({ jobId, name, isOver, steps, step: { ...step, path: picked.path.map(toPiece) } })
}

function toPiece({ part, from, to, owner }: PathPiece): object {
  const piece = { part, fromMs: from, toMs: to }
  if (owner.type === 'call') return { ...piece, call: owner.call.call }
  if (owner.type === 'nobody') return piece
  const { runId, groupId, slug, member } = owner.run
  return { ...piece, runId, groupId, slug, member }
}
