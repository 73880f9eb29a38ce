import type { TrainerHandle } from '../../assembly/trainer.ts'
import type { GroupId } from '../../ids.ts'
import type { Run } from '../../rollout/run.ts'
import type { TrainingEvent } from './events.ts'
import type { TrainSettings } from './options.ts'
import type { PolicyVersions } from './policy-versions.ts'

/** What the steps and evaluations of one training share. */
export interface Loop {
  readonly settings: TrainSettings
  readonly trainer: TrainerHandle
  readonly policy: PolicyVersions
  /** Runs of groups that wait to be trained on. */
  readonly waitingRuns: Map<GroupId, readonly Run[]>
  /** Ends all rollouts; what is being trained on comes to its end. */
  readonly signal: AbortSignal
  emit(event: TrainingEvent): Promise<void>
}
