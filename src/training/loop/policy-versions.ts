/** How far the policy has come, and how old what it put out is. */
export interface PolicyVersions {
  /** Optimiser steps that this training has taken. */
  readonly count: number
  /** The weights that are served from now on. */
  stepped(checkpointId: string): void
  /**
   * The count at which the oldest of these versions was served. A version that no optimiser step of this training made counts as
   * `otherwise`, for instance the count when the rollouts began.
   */
  oldest(versions: Iterable<string>, otherwise: number): number
}

/** `base` is the head when the training began. */
export function makePolicyVersions(base: string | null): PolicyVersions {
  const counts = new Map<string, number>(base === null ? [] : [[base, 0]])
  let count = 0
  return {
    get count() {
      return count
    },
    stepped(checkpointId) {
      count += 1
      counts.set(checkpointId, count)
    },
    oldest(versions, otherwise) {
      const found = [...versions].map(version => counts.get(version) ?? otherwise)
      return found.length === 0 ? otherwise : Math.min(...found)
    },
  }
}
