import * as assert from 'uvu/assert'
import { tellTally } from '../../support/figures.ts'
import { type Suite, suite } from '../../support/suite.ts'

export type Direction = "HUD's client -> our environments" | "our engine -> HUD's environments" | 'task rows, both ways'

/** uvu's assertions, without what their types say of the values they are given. */
export type Checks = {
  readonly [Name in keyof typeof assert]: (typeof assert)[Name] extends (...given: infer Given) => unknown
    ? (...given: Given) => void
    : never
}

/** A suite whose checks and rollouts are counted into its direction's line at the end of the run. */
export interface DirectionSuite {
  readonly test: Suite
  /** uvu's assertions, each counted when it holds. */
  readonly check: Checks
  /** Rollouts that were run, and that came out as they should. */
  rolledOut(rollouts: number, width?: number): void
}

export function directionSuite(direction: Direction, name: string): DirectionSuite {
  const test = suite(name)
  let checks = 0
  const counts: Record<string, number> = {}
  const counted = Object.fromEntries(
    Object.entries<unknown>({ ...assert }).map(([key, assertion]) => [
      key,
      (...given: unknown[]) => {
        if (typeof assertion === 'function') Reflect.apply(assertion, undefined, given)
        checks += 1
      },
    ]),
  )
  test.after(() => tellTally({ what: direction, counts: { checks, ...counts } }))
  return {
    test,
    // The same functions under the same names, which the types cannot know.
    check: counted as unknown as Checks,
    rolledOut(rollouts, width) {
      const what = width === undefined ? 'other rollouts' : `rollouts at ${width} wide`
      counts[what] = (counts[what] ?? 0) + rollouts
    },
  }
}
