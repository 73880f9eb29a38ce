import * as assert from 'uvu/assert'
import { tellFigures } from '../support/figures.ts'

/** Counts attempts, and those that got something. Calling it fails the test at once where one did. */
export interface Tally {
  (what: string, gains: readonly string[]): void
  succeeded(): readonly string[]
  /** Tells `N …, 0 succeeded`. */
  tell(): void
}

export function tally(things: string): Tally {
  const succeeded: string[] = []
  let attempts = 0
  const count = (what: string, gains: readonly string[]) => {
    attempts += 1
    if (gains.length > 0) succeeded.push(what)
    assert.equal(gains, [], what)
  }
  return Object.assign(count, {
    succeeded: () => succeeded,
    tell: () => tellFigures(`${attempts} ${things}, ${succeeded.length} succeeded`),
  })
}
