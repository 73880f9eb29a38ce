import type { LimitSign } from './limit-signs.ts'

/** A coordinator as others know it. */
export type LimitPeer = Pick<LimitSign, 'node' | 'dispatcher' | 'rank' | 'workers'>

/** Which of the coordinators that are there keeps the buckets of all accounts. */
export interface KeeperElection {
  /** This one's. */
  readonly rank: number
  /** Undefined: this one. */
  keeper(): LimitPeer | undefined
  /** All but this one. */
  peers(): readonly LimitPeer[]
  /** Tells whether nothing was known of that one. */
  hear(sign: LimitSign, now: number): boolean
  /** Forgets those that were not heard of for so long that others take them to be dead, and tells them. */
  silent(now: number): readonly string[]
}

/** Whoever is there is heard of by then: a keeper answers a new one at once. */
const LISTEN_MS = 1_000
/** Three signs are lost, or one has died. */
const SILENT_MS = 3_500

/**
 * The one that has been there longest keeps the buckets: each takes a rank behind the keeper's when it comes, so that one that comes later does not take over from it, and
 * the next in line does when it ends or is silent. All know the same ranks, so nobody has to be asked; where two think for a moment that it is them, the provider's own
 * word on what is left corrects both. `own`: its node; nodes differ. Before it has a rank each keeps its own.
 */
export function makeKeeperElection(own: string, startedAt: number): KeeperElection {
  const peers = new Map<string, { readonly peer: LimitPeer; readonly heardAt: number }>()
  let rank = 0

  return {
    get rank() {
      return rank
    },
    keeper() {
      let first: LimitPeer = { node: own, dispatcher: '', rank, workers: [] }
      for (const { peer } of peers.values()) if (isBefore(peer, first)) first = peer
      return first.node === own ? undefined : first
    },
    peers: () => [...peers.values()].map(({ peer }) => peer),
    hear({ node, dispatcher, rank: theirs, isOver, workers }, now) {
      const isNew = !peers.has(node)
      if (isOver) peers.delete(node)
      else peers.set(node, { peer: { node, dispatcher, rank: theirs, workers }, heardAt: now })
      if (rank === 0 && theirs > 0) rank = theirs + 1
      return isNew
    },
    silent(now) {
      if (rank === 0 && now - startedAt >= LISTEN_MS) rank = 1
      const gone = [...peers].filter(([, { heardAt }]) => now - heardAt >= SILENT_MS).map(([node]) => node)
      for (const node of gone) peers.delete(node)
      return gone
    },
  }
}

/** One without a rank is behind all that have one. Two that came at the same time have the same, and their names decide. */
function isBefore(one: LimitPeer, other: LimitPeer): boolean {
  if (one.rank === 0) return false
  if (other.rank === 0 || one.rank < other.rank) return true
  return one.rank === other.rank && one.node < other.node
}
