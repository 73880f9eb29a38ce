import type { Clock } from '../../clock.ts'
import type { IdSource } from '../../ids.ts'
import type { Limits } from './batch.ts'
import type { InFlight } from './in-flight.ts'
import type { LoadedModels } from './loaded-models.ts'
import type { PromptFormat } from './prompt-format.ts'
import type { Store } from './store.ts'

/** What the routes stand on. */
export interface Service {
  readonly store: Store
  readonly models: LoadedModels
  readonly inFlight: InFlight
  readonly format: PromptFormat
  readonly limits: Limits
  readonly clock: Clock
  readonly ids: IdSource
  /** A 32-bit number for a request without a seed. */
  readonly randomSeed: () => number
}
