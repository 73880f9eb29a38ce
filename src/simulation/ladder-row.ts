import { PUBLISHED_LADDER_NAME, PUBLISHED_LADDER_RECEIPT } from '../receipts/index.ts'
import { toLadder } from './read-ladder.ts'

/**
 * One level of a measured ladder: so many sandboxes asked for at once, and how long until they were ready. `mode` says where they came from: `cold`, `fork`, or
 * `provider-pool` (published: `warm`).
 */
export interface LadderRow {
  readonly n: number
  readonly mode: string
  readonly ok: number
  readonly failed: number
  readonly readyP50S: number
  readonly readyP95S: number
}

/** The published ladder: three repetitions at each width. */
export const PUBLISHED_LADDER: readonly LadderRow[] = toLadder(PUBLISHED_LADDER_RECEIPT, PUBLISHED_LADDER_NAME)
