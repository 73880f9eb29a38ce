import type { Ref } from '../src/kernel/ref.ts'
import type { DeskMessage, WorkerNote } from './cluster-messages.ts'

/** A worker of the job, and when it was last heard of. */
interface Worker {
  readonly note: WorkerNote
  readonly desk: Ref<DeskMessage>
  credits: number
  heardAt: number
}

/** Who works for a job. */
export interface WorkerBook {
  /** Rollouts that all of them together may have. */
  readonly credits: number
  add(note: WorkerNote, desk: Ref<DeskMessage>, now: number): void
  beat(node: string, credits: number, now: number): void
  /** Forgets the one with this desk, and tells what it said of itself. */
  gone(address: string): WorkerNote | undefined
  /** Whether one of that owner works. */
  hasOwner(owner: string): boolean
  silent(now: number, silenceMs: number): readonly { readonly node: string; readonly silentMs: number }[]
  desks(): readonly Ref<DeskMessage>[]
}

export function makeWorkerBook(): WorkerBook {
  const workers = new Map<string, Worker>()
  return {
    get credits() {
      let sum = 0
      for (const { credits } of workers.values()) sum += credits
      return sum
    },
    add: (note, desk, now) => void workers.set(note.node, { note, desk, credits: note.credits, heardAt: now }),
    beat(node, credits, now) {
      const worker = workers.get(node)
      if (worker === undefined) return
      worker.credits = credits
      worker.heardAt = now
    },
    gone(address) {
      for (const [node, { desk, note }] of workers)
        if (desk.address === address) {
          workers.delete(node)
          return note
        }
      return undefined
    },
    hasOwner: owner => [...workers.values()].some(({ note }) => note.owner === owner),
    silent: (now, silenceMs) =>
      [...workers].flatMap(([node, { heardAt }]) =>
        now - heardAt > silenceMs ? [{ node, silentMs: now - heardAt }] : [],
      ),
    desks: () => [...workers.values()].map(({ desk }) => desk),
  }
}
