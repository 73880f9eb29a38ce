import type { Loop } from './loop.ts'

/** Tells the job's pool of the next step's rollouts while the last one's are trained on, so that its sandboxes are ready when it begins. */
export interface Forecast {
  /** The rollouts of a step begin. */
  begins(): void
  /** They are over, and `runs` are to come with the next step; 0: none. */
  over(runs: number): void
}

/** Told at once; or, with `poolLeadMs`, that long before the next step should begin if its training takes as long as the last one's. */
export function makeForecast({ settings, signal }: Pick<Loop, 'settings' | 'signal'>): Forecast {
  const { clock, job, poolLeadMs } = settings
  let overAt: number | undefined
  let gapMs: number | undefined
  let cancel = () => {}
  signal.addEventListener('abort', () => cancel(), { once: true })
  return {
    begins() {
      cancel()
      if (overAt !== undefined) gapMs = clock.now() - overAt
    },
    over(runs) {
      overAt = clock.now()
      if (runs === 0 || signal.aborted) return
      const waitMs = poolLeadMs === undefined || gapMs === undefined ? 0 : gapMs - poolLeadMs
      if (waitMs <= 0) job.expect?.(runs)
      else cancel = clock.after(waitMs, () => job.expect?.(runs))
    },
  }
}
