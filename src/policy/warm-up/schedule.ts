const RISING_STEPS = 20
const FALL_FROM = 0.5
const LOWEST_SHARE = 0.05

/** The learning rate of a step, from 1: a straight rise, a level, and from the half a straight fall to a twentieth. */
export function learningRateAt(
  step: number,
  { steps, learningRate }: { readonly steps: number; readonly learningRate: number },
): number {
  const risen = Math.min(1, step / RISING_STEPS)
  const fallen = step > steps * FALL_FROM ? Math.max(LOWEST_SHARE, (steps - step) / (steps * (1 - FALL_FROM))) : 1
  return learningRate * risen * fallen
}
