/** How many sandboxes are in which use at a moment. */
export interface Heads {
  readonly alive: number
  readonly leased: number
  /** Ready for a rollout, and not asked for yet. */
  readonly ready: number
  /** Kept to be forked. */
  readonly parents: number
  /** Unclaimed in the provider's own pool. */
  readonly unclaimed: number
}

/** Sandbox-seconds by use. `making` is the rest: what boots, is being deleted, or marks whose the provider's pool is. */
export interface SandboxSeconds {
  readonly used: number
  readonly idle: number
  readonly ready: number
  readonly parents: number
  readonly unclaimed: number
  readonly making: number
}

/** Adds up how long sandboxes were in which use. */
export interface Census {
  /** To be told of every change. */
  look(now: number, heads: Heads): void
  readonly peak: number
  seconds(): SandboxSeconds
}

export function makeCensus(): Census {
  const sums = { alive: 0, leased: 0, ready: 0, parents: 0, unclaimed: 0 }
  let before: Heads = { alive: 0, leased: 0, ready: 0, parents: 0, unclaimed: 0 }
  let lookedAt = 0
  let peak = 0
  return {
    look(now, heads) {
      const ms = now - lookedAt
      if (ms > 0) {
        sums.alive += ms * before.alive
        sums.leased += ms * before.leased
        sums.ready += ms * before.ready
        sums.parents += ms * before.parents
        sums.unclaimed += ms * before.unclaimed
        lookedAt = now
      }
      before = heads
      if (heads.alive > peak) peak = heads.alive
    },
    get peak() {
      return peak
    },
    seconds() {
      const idle = sums.alive - sums.leased
      return {
        used: sums.leased / 1_000,
        idle: idle / 1_000,
        ready: sums.ready / 1_000,
        parents: sums.parents / 1_000,
        unclaimed: sums.unclaimed / 1_000,
        making: (idle - sums.ready - sums.parents - sums.unclaimed) / 1_000,
      }
    },
  }
}
