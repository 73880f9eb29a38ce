import type { ErrorData } from '../errors.ts'
import type { Directive, Supervision } from './actor.ts'

/** What an actor without a `supervision` of its own does with its children. */
export const defaultSupervision: Supervision = {
  decide: () => 'restart',
  intensity: 3,
  periodMs: 5_000,
  backoff: { baseMs: 100, maxMs: 5_000 },
}

export type Verdict =
  | { readonly directive: Exclude<Directive, 'restart'> }
  | { readonly directive: 'restart'; readonly delayMs: number }

/** The restarts of one child: its own, so that one failing child does not use up its siblings' allowance. */
export class RestartHistory {
  private times: number[] = []

  /**
   * What happens to a child that failed at `now`. An actor that has no state yet cannot resume, so it is restarted.
   * `random` is a number in [0, 1).
   */
  judge(supervision: Supervision, error: ErrorData, now: number, random: number, hasState: boolean): Verdict {
    const wanted = supervision.decide(error)
    const directive = wanted === 'resume' && !hasState ? 'restart' : wanted
    if (directive !== 'restart') return { directive }
    this.times = this.times.filter(time => now - time < supervision.periodMs)
    if (this.times.length >= supervision.intensity) return { directive: 'escalate' }
    this.times.push(now)
    const { baseMs, maxMs } = supervision.backoff
    const fullMs = Math.min(maxMs, baseMs * 2 ** (this.times.length - 1))
    return { directive: 'restart', delayMs: fullMs * (0.5 + random / 2) }
  }
}
