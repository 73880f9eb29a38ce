import type { SandboxListItem } from '@daytona/api-client'
import { judgeLabels, type Verdict } from '../labels.ts'

/** Labels of anchors, beside those that all sandboxes have. */
export const ANCHOR_LABEL = {
  /** `pool-anchor`: no sandbox for rollouts, but what says whose a pool is. Pools themselves have no labels. */
  purpose: 'troupe-purpose',
  /** The id of the pool, once it is held. */
  pool: 'troupe-pool',
  /** When the hold began, in milliseconds since 1970: of two that want the same pool the earlier gets it. */
  since: 'troupe-since',
} as const

export const POOL_ANCHOR = 'pool-anchor'

export const isAnchor = ({ labels }: Pick<SandboxListItem, 'labels'>): boolean =>
  labels[ANCHOR_LABEL.purpose] === POOL_ANCHOR

/** What an anchor's labels say of its pool. */
export function readAnchor({ labels }: Pick<SandboxListItem, 'labels'>): {
  /** The id of the pool, once it is held. */
  readonly poolId: string | undefined
  /** Milliseconds since 1970; 0 where it is not told. */
  readonly since: number
} {
  return { poolId: labels[ANCHOR_LABEL.pool], since: Number(labels[ANCHOR_LABEL.since] ?? 0) }
}

/** Of the owner of an anchor. Whoever lives keeps touching it, so that one that the provider has stopped has no owner. */
export function judgeAnchor({ labels, state }: Pick<SandboxListItem, 'labels' | 'state'>, now: number): Verdict {
  const verdict = judgeLabels(labels, now)
  return verdict === 'elsewhere' && (state === 'stopped' || state === 'archived') ? 'expired' : verdict
}
