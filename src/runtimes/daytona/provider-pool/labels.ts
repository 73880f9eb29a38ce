import type { SandboxListItem } from '@daytona/api-client'
import { judgeOwner } from '../../../owner.ts'
import { PROVIDER_LABELS } from '../labels.ts'

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

/** `elsewhere`: on another machine, or in another container, as far as can be told from here. */
export type Verdict = 'alive' | 'dead' | 'elsewhere'

/** Of the owner that the labels name. Whoever is elsewhere counts as dead once the expiry in the labels has passed. */
export function judgeLabels(labels: Readonly<Record<string, string>>, now: number): Verdict {
  const verdict = judgeOwner(labels[PROVIDER_LABELS.owner] ?? '')
  if (verdict !== 'elsewhere') return verdict
  return Date.parse(labels[PROVIDER_LABELS.expiry] ?? '') <= now ? 'dead' : 'elsewhere'
}

/** Of the owner of an anchor. Whoever lives keeps touching it, so that one that the provider has stopped has no owner. */
export function judgeAnchor({ labels, state }: Pick<SandboxListItem, 'labels' | 'state'>, now: number): Verdict {
  const verdict = judgeLabels(labels, now)
  return verdict === 'elsewhere' && (state === 'stopped' || state === 'archived') ? 'dead' : verdict
}
