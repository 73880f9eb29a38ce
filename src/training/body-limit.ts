import type { EncodedGroup } from './body/encode-groups.ts'
import { groupTooLarge } from './errors.ts'

/** What was learned of how large a body may be, in bytes. */
export class BodyLimit {
  readonly #given: number | undefined
  /** The largest that passed, and the smallest that was refused; the second is unknown until one is. */
  #passed = 0
  #refused = Number.POSITIVE_INFINITY

  constructor(given: number | undefined) {
    this.#given = given
  }

  passed(bytes: number): void {
    if (bytes < this.#refused) this.#passed = Math.max(this.#passed, bytes)
  }

  refused(bytes: number): void {
    this.#refused = Math.min(this.#refused, bytes)
    if (this.#passed >= this.#refused) this.#passed = 0
  }

  /** Whether a body of as many bytes, or fewer, was refused. */
  isRefused(bytes: number): boolean {
    return bytes >= this.#refused
  }

  /**
   * `groups` in the fewest parts that are known to pass, in order: one part while no body was refused and no limit was given.
   * `around` is what an envelope adds. Throws `group-too-large` for a group that is over by itself; one that is above what has
   * passed and below what was refused is tried.
   */
  cut(groups: readonly EncodedGroup[], around: number): EncodedGroup[][] {
    const most = (this.#given ?? Number.POSITIVE_INFINITY) - around
    const known = (Number.isFinite(this.#refused) ? this.#passed || this.#refused - 1 : this.#refused) - around
    const parts: EncodedGroup[][] = []
    let open: EncodedGroup[] = []
    let bytes = 0
    for (const group of groups) {
      if (group.bytes > most || this.isRefused(group.bytes + around)) throw tooLarge(group, around, this.#given)
      if (open.length > 0 && bytes + group.bytes > Math.min(most, known)) {
        parts.push(open)
        open = []
        bytes = 0
      }
      open.push(group)
      bytes += group.bytes
    }
    return [...parts, open]
  }

  /** A part that was refused, in two. Throws `group-too-large` for a single group. */
  halve(part: readonly EncodedGroup[], around: number): [EncodedGroup[], EncodedGroup[]] {
    const [group] = part
    if (part.length === 1 && group !== undefined) throw tooLarge(group, around, this.#given)
    const half = Math.ceil(part.length / 2)
    return [part.slice(0, half), part.slice(half)]
  }
}

function tooLarge(group: EncodedGroup, around: number, limit: number | undefined): Error {
  return groupTooLarge(group.groupId, group.runIds.length, group.bytes + around, limit)
}
