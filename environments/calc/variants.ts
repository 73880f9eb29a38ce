import { type BugKind, functions } from './functions.ts'

/** How many variants the taskset has; the last 8 are held out of training. */
export const VARIANTS = 24
export const FIRST_HELD_OUT = 16

/** Names of the 4 to 6 functions that are broken in a variant: neighbours in the file, wrapping at its end. */
export function brokenIn(variant: number): string[] {
  const count = 4 + (variant % 3)
  const names = functions.map(({ name }) => name)
  return Array.from({ length: count }, (_, place) => names[(3 * variant + place) % names.length]).filter(
    name => name !== undefined,
  )
}

/** `held-out` combines known bugs anew; `unseen` has bugs whose repair no demonstration and no training shows. */
export function splitOf(variant: number, bugs: BugKind = 'known'): 'train' | 'held-out' | 'unseen' {
  if (bugs === 'unseen') return 'unseen'
  return variant < FIRST_HELD_OUT ? 'train' : 'held-out'
}
