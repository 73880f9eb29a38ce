import type { ErrorData } from '../../errors.ts'
import type { GroupId } from '../../ids.ts'
import type { EvaluationRecord, StepRecord } from '../records.ts'
import type { DeliveryDrop, RollBack } from './ledger.ts'

/** What a training has to show so far, steps of earlier processes included. */
export interface TrainingHistory {
  readonly steps: readonly StepRecord[]
  readonly evaluations: readonly EvaluationRecord[]
}

/** When a call of the trainer began, in milliseconds since 1970, and how long it took. */
export interface OptimCall {
  readonly startedAt: number
  readonly tookMs: number
}

/** What a training tells while it goes on, in the order in which it happens. */
export type TrainingEvent =
  /** An earlier process's training goes on; these are its records. First, where it comes. */
  | { readonly type: 'resumed'; readonly history: TrainingHistory }
  | { readonly type: 'step-began'; readonly step: number; readonly groups: number; readonly runs: number }
  /** One training call is over; with an error, what it says of each group is in `consumed` and `dropped`. */
  | {
      readonly type: 'chunk-trained'
      readonly step: number
      /** Number of the call in its step. */
      readonly call: number
      readonly consumed: readonly GroupId[]
      readonly dropped: readonly { readonly groupId: GroupId; readonly reason: DeliveryDrop }[]
      readonly datums: number
      readonly loss: number | null
      /** Milliseconds since 1970. */
      readonly startedAt: number
      readonly tookMs: number
      readonly error: ErrorData | null
    }
  /** The service holds nothing of these groups, which an earlier process had sent; they are sent again. */
  | {
      readonly type: 'rolled-back'
      readonly step: number
      readonly groups: readonly GroupId[]
      readonly why: RollBack
    }
  /** An optimiser step whose answer never came has happened. */
  | { readonly type: 'adopted'; readonly step: number; readonly checkpointId: string }
  | {
      readonly type: 'step-ended'
      readonly record: StepRecord
      /** The optimiser step; absent where there was none, or its answer did not come to this process. */
      readonly optimCall?: OptimCall
    }
  | {
      readonly type: 'evaluated'
      readonly record: EvaluationRecord
      /** Of the job: its own, see `RunHeader.step`. */
      readonly step: number
      /** Milliseconds since 1970. */
      readonly startedAt: number
    }
  /** By its signal, before its end. Last, where it comes. */
  | { readonly type: 'stopped' }
