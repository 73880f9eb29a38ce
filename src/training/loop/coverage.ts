import type { ErrorData } from '../../errors.ts'
import type { Group } from '../../rollout/group.ts'
import { tooFewGraded } from './errors.ts'

/** How many of a step's rollouts were graded, and what became of the others. */
export interface Coverage {
  add(group: Pick<Group, 'runs'>): void
  /**
   * Throws `too-few-graded` where less than the share `least` was. A step without any grade has nothing to train on anyway, and is left to the breaker
   * that counts such steps.
   */
  check(step: number, least: number): void
}

export function makeCoverage(): Coverage {
  const kinds = new Map<string, { count: number; readonly error: ErrorData | undefined }>()
  let runs = 0
  let graded = 0
  return {
    add(group) {
      for (const { reward, error, outcome } of group.runs) {
        runs += 1
        if (reward !== null) {
          graded += 1
          continue
        }
        const kind = error?.tag ?? outcome
        const known = kinds.get(kind)
        if (known === undefined) kinds.set(kind, { count: 1, error })
        else known.count += 1
      }
    },
    check(step, least) {
      if (graded === 0 || graded >= least * runs) return
      const [most] = [...kinds.values()].sort((a, b) => b.count - a.count)
      throw tooFewGraded(step, { runs, graded, least, count: most?.count ?? 0, error: most?.error })
    },
  }
}
