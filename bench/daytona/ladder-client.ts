import type { LevelFigures, Sample } from './level.ts'

/** A sandbox that answers, and how it is given back. */
export interface Acquired {
  readonly sample: Sample
  /** Resolves when the provider has agreed to delete it, or when the pool has been told. */
  giveBack(): Promise<void>
}

/** One way of getting sandboxes, as the ladder drives it. */
export interface LadderClient {
  warmUp(): Promise<void>
  /** Resolves when what the mode keeps ready for a level really exists. */
  prepare(): Promise<void>
  /** Rejects with tagged data, leaving nothing behind. */
  acquire(): Promise<Acquired>
  /** Resolves when everything that was given back is gone, as far as the client can tell. */
  settled(): Promise<void>
  /** Creates so far and those that failed, and sandboxes still owned; undefined where nobody counts. */
  counts(): Promise<LevelFigures['pool']>
  close(): Promise<void>
}
