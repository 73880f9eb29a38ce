import { randomInt } from 'node:crypto'
import { readFileSync } from 'node:fs'

/** The user and group id that own a session's directory and run its commands. */
export type Owner = number

/** Hands out user ids. `claim` gives `undefined` where this process may not change its user: commands then run as itself. */
export interface Owners {
  claim(): Owner | undefined
  release(owner: Owner | undefined): void
}

const RANGES = [
  { first: 200_000, count: 65_536 },
  { first: 20_000, count: 30_000 },
]

/**
 * Root hands each session an unprivileged user id of its own. Inside bwrap's user namespace ids only look unprivileged: as
 * root they would still be root's on the files that are bound in, and process limits are counted per real user.
 * The start is drawn, so that two hosts on one machine rarely share an id; where they do, they share a process limit, no more.
 */
export function makeOwners(): Owners {
  const range = process.getuid?.() === 0 ? RANGES.find(({ first, count }) => isMapped(first, count)) : undefined
  const claimed = new Set<Owner>()
  let next = range === undefined ? 0 : randomInt(range.count)
  return {
    claim() {
      if (range === undefined || claimed.size >= range.count) return undefined
      let owner: Owner
      do {
        owner = range.first + next
        next = (next + 1) % range.count
      } while (claimed.has(owner))
      claimed.add(owner)
      return owner
    },
    release(owner) {
      if (owner !== undefined) claimed.delete(owner)
    },
  }
}

/** Whether this user namespace knows these ids: a rootless container often maps only 65,536 of them. */
function isMapped(first: number, count: number): boolean {
  return readFileSync('/proc/self/uid_map', 'utf8')
    .trim()
    .split('\n')
    .map(line => line.trim().split(/\s+/).map(Number))
    .some(([inside = 0, , length = 0]) => inside <= first && first + count <= inside + length)
}
