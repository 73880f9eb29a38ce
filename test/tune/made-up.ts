import type { Evaluated } from '../../src/tune/evaluate.ts'
import { COLD } from '../../src/tune/evaluate.ts'

const exactly = (mean: number) => ({ mean, low: mean, high: mean })

/** A plan with these figures: none of them was simulated. */
export function madeUp(
  idle: number,
  stepMs: number,
  more: { readonly hitRate?: number; readonly cost?: number } = {},
): Evaluated {
  return {
    candidate: { ...COLD, strategy: 'prewarm', size: idle },
    stepMs: exactly(stepMs),
    savedMs: exactly(0),
    hitRate: exactly(more.hitRate ?? 0),
    idleSeconds: exactly(idle),
    claimRate: 0,
    usedSeconds: 0,
    waitMs: { mean: 0, p50: 0, p95: 0, max: 0 },
    creates: 0,
    peak: 0,
    refused: 0,
    cost: more.cost ?? idle,
  }
}
