import type { LeaseKind } from '../runtimes/runtime.ts'
import { findCriticalPath, type PathPiece, toGroups } from './critical-path.ts'
import { findOverlap, type Overlap } from './overlap.ts'
import { peakOf } from './spans.ts'
import { findStraggler, type Straggler } from './straggler.ts'
import { type Suggestion, suggest } from './suggest.ts'
import { type PartTime, sumParts } from './sum-parts.ts'
import type { StepTimeline } from './timeline.ts'
import { findTrainerWaits, type TrainerWait } from './trainer-waits.ts'

/** Where the time of one step went. Milliseconds, counted from its start. */
export interface StepExplanation {
  readonly startedAt: number
  readonly wallMs: number
  readonly rollouts: number
  readonly groups: number
  /** The most rollouts that were under way at once. */
  readonly peak: number
  /** How many leases were of which kind; `none` never came. */
  readonly leases: Readonly<Partial<Record<LeaseKind | 'none', number>>>
  readonly parts: readonly PartTime[]
  readonly overlap: Overlap
  /** What the step's end waited for, from its start. */
  readonly path: readonly PathPiece[]
  readonly straggler: Straggler | undefined
  readonly trainerWaits: readonly TrainerWait[]
  /** What would shorten it, the most first; none where nothing stands out. */
  readonly suggestions: readonly Suggestion[]
}

/** Pure: the same time line gives the same explanation, in whatever order its lists are. */
export function explainStep(timeline: StepTimeline): StepExplanation {
  const runs = timeline.runs.toSorted(
    (a, b) => a.index - b.index || a.member - b.member || (a.runId < b.runId ? -1 : 1),
  )
  const calls = timeline.calls.toSorted((a, b) => a.from - b.from || a.call - b.call)
  const step = { ...timeline, runs, calls }
  const path = findCriticalPath(step)
  const found = {
    startedAt: step.startedAt,
    wallMs: step.durationMs,
    rollouts: runs.length,
    groups: toGroups(runs).length,
    peak: peakOf(runs),
    leases: countLeases(step),
    parts: sumParts(path, runs),
    overlap: findOverlap(step),
    path,
    straggler: findStraggler(step),
    trainerWaits: findTrainerWaits(step),
  }
  return { ...found, suggestions: suggest(found, step) }
}

function countLeases({ runs }: StepTimeline): StepExplanation['leases'] {
  const counts: Partial<Record<LeaseKind | 'none', number>> = {}
  for (const { lease } of runs) counts[lease ?? 'none'] = (counts[lease ?? 'none'] ?? 0) + 1
  return counts
}
