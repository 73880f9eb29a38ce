import { hasTag } from '../../errors.ts'
import type { PolicyTrainer, TrainingState } from '../policy.ts'

/** A trainer that is started when first needed, and that holds what the store holds whenever it is used. */
export interface Learner {
  /** One use at a time. After one that failed the trainer is loaded anew, so that half a change is none. */
  use<Value>(body: (trainer: PolicyTrainer) => Promise<Value>): Promise<Value>
  /** The store has changed: load anew before the next use. */
  reload(): void
  close(): Promise<void>
}

export function makeLearner(
  start: () => Promise<PolicyTrainer>,
  /** What the store holds, what was accumulated included. */
  stored: () => Promise<TrainingState>,
): Learner {
  let trainer: PolicyTrainer | undefined
  let isLoaded = false
  return {
    async use(body) {
      trainer ??= await start()
      const running = trainer
      try {
        if (!isLoaded) await running.load(await stored())
        isLoaded = true
        return await body(running)
      } catch (error) {
        isLoaded = false
        if (hasTag(error, 'policy-thread-lost') || hasTag(error, 'policy-closed')) {
          trainer = undefined
          await running.close().catch(() => {}) // It is gone; the error above says why.
        }
        throw error
      }
    },
    reload() {
      isLoaded = false
    },
    async close() {
      await trainer?.close()
      trainer = undefined
    },
  }
}
