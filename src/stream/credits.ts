import type { Group } from '../rollout/group.ts'
import { creditsBroken } from './errors.ts'

/**
 * Packed bytes that were handed to the consumer and not yet taken. Streams have no backpressure of their own, so whoever
 * starts new work looks here first.
 */
export interface WaitingBytes {
  readonly bytes: number
  /** As many bytes wait as may, or more: one group can go over. */
  readonly full: boolean
  add(bytes: number): void
  take(bytes: number): void
  /** Calls `listener` each time `full` turns false. The returned function removes it. */
  onRoom(listener: () => void): () => void
}

/** Counts up to `limitBytes`, from none. */
export function makeWaitingBytes(limitBytes: number): WaitingBytes {
  const listeners = new Set<() => void>()
  let waiting = 0
  return {
    get bytes() {
      return waiting
    },
    get full() {
      return waiting >= limitBytes
    },
    add(bytes) {
      waiting += bytes
    },
    take(bytes) {
      if (bytes > waiting) throw creditsBroken(bytes, waiting)
      const wasFull = waiting >= limitBytes
      waiting -= bytes
      if (wasFull && waiting < limitBytes) for (const listener of [...listeners]) listener()
    },
    onRoom(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}

/** Which count a group was handed out under, so that an operator far down the pipe can keep it there. */
const accounts = new WeakMap<Group, WaitingBytes>()

/** Remembers the count that `group` belongs to. */
export function billTo(waiting: WaitingBytes, group: Group): void {
  accounts.set(group, waiting)
}

/**
 * Counts these groups' bytes as waiting until the returned function is called, once or more. Groups that no stream handed out
 * count nowhere.
 */
export function holdCredits(groups: readonly Group[]): () => void {
  let held: { readonly waiting: WaitingBytes; readonly bytes: number }[] = []
  for (const group of groups) {
    const waiting = accounts.get(group)
    if (waiting === undefined) continue
    waiting.add(group.bytes)
    held.push({ waiting, bytes: group.bytes })
  }
  return () => {
    const release = held
    held = []
    for (const { waiting, bytes } of release) waiting.take(bytes)
  }
}
