import { makeRandom } from '../../src/random.ts'

/** What may go wrong in a rollout, and how often. The rest is well. */
export const FAULTS = {
  /** The agent throws; what it left is graded. */
  'agent-throws': 0.003,
  /** The agent answers nothing until its deadline. */
  'agent-hangs': 0.001,
  /** The grader throws. */
  'grader-throws': 0.002,
  /** The grader answers nothing until its deadline. */
  'grader-hangs': 0.001,
  /** The grader gives what is no score. */
  'no-score': 0.002,
} as const

export type Fault = keyof typeof FAULTS

/** The fault of a run by its seed; undefined for most. */
export function faultOf(seed: number): Fault | undefined {
  let drawn = makeRandom(seed)()
  for (const [fault, share] of Object.entries(FAULTS)) {
    if (drawn < share) return isFault(fault) ? fault : undefined
    drawn -= share
  }
  return undefined
}

function isFault(name: string): name is Fault {
  return name in FAULTS
}
