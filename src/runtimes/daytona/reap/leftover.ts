/** What can be left behind, as it is asked for: a pool goes with its unclaimed members and the anchor that says whose it is. */
export const REAP_KINDS = ['sandbox', 'pool', 'snapshot'] as const
export type ReapKind = (typeof REAP_KINDS)[number]

/** Something at the provider that costs and that nobody alive needs. */
export interface Leftover {
  readonly kind: 'pool' | 'pool-member' | 'pool-anchor' | 'sandbox' | 'snapshot'
  readonly id: string
  readonly name: string
  /** Of the labels; absent where there are none, as on pools without an anchor and on snapshots. */
  readonly job?: string
  /** `toOwnerWord()` of the process that left it. */
  readonly owner?: string
  /**
   * `dead`: its process is gone. `expired`: it is on another machine and its time has passed. `named`: it is elsewhere, and whoever asks says that it is
   * dead. `none`: nothing says who left it. `unused`: a snapshot, which has no owner.
   */
  readonly standing: 'dead' | 'expired' | 'named' | 'none' | 'unused'
  /** Milliseconds since 1970, of a snapshot when it was last used; absent where the provider does not tell. */
  readonly createdAt?: number
  readonly region?: string
  /** The id of the pool that a member or an anchor is of. */
  readonly pool?: string
  /** vCPUs, and GiB of memory and disk, that it takes now. A pool takes none beyond its members, and a stopped sandbox only disk. */
  readonly cpu: number
  readonly memory: number
  readonly disk: number
}

export interface FindOptions {
  /** Default: all. */
  readonly kinds?: readonly ReapKind[]
  /** Only what is older, in milliseconds. Default: any age. */
  readonly olderThanMs?: number
  /** Only what these have left, and those that cannot be seen from here count as dead: owners in a word, or the hosts they were on. */
  readonly owners?: readonly string[]
  readonly hosts?: readonly string[]
  /** Of sandboxes only those of this job; pools are of no job. */
  readonly job?: string | undefined
  /** What nothing says an owner of, too, if its name says that it was made here: such a pool may have been made by hand. Default false. */
  readonly ownerless?: boolean
}

export const toHost = (owner: string): string => owner.split('~')[0] ?? owner
