import { setTimeout as pause } from 'node:timers/promises'
import type { Trainer } from '../../src/training/trainer.ts'

/** Takes `msPerRun(step)` for each run it is given, and nothing for the optimiser step. */
export function makeWaitingTrainer(msPerRun: (step: number) => number): Trainer {
  let step = 0
  return {
    model: 'waiting',
    async forwardBackward(runs) {
      await pause(runs.length * msPerRun(step))
      return { metrics: { 'loss:sum': -runs.length }, numDatums: runs.length }
    },
    async optimStep() {
      step += 1
      return { step, policyVersion: `checkpoint-${step}` }
    },
    policyVersion: async () => (step === 0 ? null : `checkpoint-${step}`),
  }
}
