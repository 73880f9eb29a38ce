import type { GroupId, RunId } from '../ids.ts'
import type { LeaseKind } from '../runtimes/runtime.ts'

/** What time was spent on. Those of a sandbox are the wait for one, by how the one that came had come to be. */
export const PARTS = [
  'beginning',
  'step-before',
  'stopped',
  'turn',
  'earlier-attempts',
  'sandbox-hit',
  'sandbox-cold',
  'sandbox-claim',
  'sandbox-fork',
  'sandbox-none',
  'connecting',
  'starting',
  'model',
  'tools',
  'agent',
  'grading',
  'verifying',
  'other',
  'cleanup',
  'handover',
  'training',
  'optimiser',
  'closing',
] as const

export type Part = (typeof PARTS)[number]

/** A stretch of time, in milliseconds from the step's start. */
export interface Span {
  readonly from: number
  readonly to: number
}

export interface Segment extends Span {
  readonly part: Part
}

/** One run on the step's time line: its last attempt, which is the one that the journal keeps. */
export interface RunTimeline extends Span {
  readonly runId: RunId
  readonly groupId: GroupId
  /** Its group's place in the step's order. */
  readonly index: number
  readonly member: number
  readonly slug: string
  readonly lease: LeaseKind | null
  /** Attempts before this one, or a thread that was lost, lie between its group's start and `from`. */
  readonly isLater: boolean
  /** Milliseconds of the phase in which it waited for its sandbox. */
  readonly provisioningMs: number
  /** Contiguous: they begin with the run and end with it. */
  readonly segments: readonly Segment[]
}

/** One call of the trainer that came to its end. */
export interface CallTimeline extends Span {
  readonly call: number
  readonly groups: readonly GroupId[]
}

/** What the journal knows of when things happened in one step. Nothing depends on the order of its lists. */
export interface StepTimeline {
  /** When it began, in milliseconds since 1970. */
  readonly startedAt: number
  /** To its end or, of a step that has none, to the last that is known. */
  readonly durationMs: number
  readonly runs: readonly RunTimeline[]
  readonly calls: readonly CallTimeline[]
  readonly optimiser: Span | undefined
  /** In which order groups are packed into calls; undefined where nobody has said. */
  readonly order: 'planned' | 'completion' | undefined
  /** When the step before it was over, where that was after this one had begun. */
  readonly beforeEndedAt: number | undefined
}

export const lengthOf = ({ from, to }: Span): number => to - from
