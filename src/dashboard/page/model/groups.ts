import type { FeedChunk, FeedGroup, FeedRun, LiveRollout } from '../../../feed/messages.ts'

/** One member of a group, as far as it has come. */
export type Member =
  | { readonly type: 'running'; readonly live: LiveRollout }
  | { readonly type: 'ended'; readonly run: FeedRun }

/** A group as it forms. Changed in place: there are hundreds of them several times a second. */
export interface GroupView {
  readonly groupId: string
  readonly slug: string
  readonly step: number
  /** When its first member was seen to begin. */
  readonly startedAt: number
  /** By their number; those that have not begun are missing. */
  readonly members: (Member | undefined)[]
  end: FeedGroup | null
  /** The training call that took it. */
  chunk: FeedChunk | null
  /** Grows with every change, so that what has not changed need not be shown anew. */
  revision: number
}

/** Of those that are over. Forming ones are bounded by the engine's credits. */
const MOST_ENDED = 600

/** Every group that is forming, and the newest of the others. */
export class GroupBook {
  readonly #groups = new Map<string, GroupView>()
  #ended = 0

  get size(): number {
    return this.#groups.size
  }

  get(groupId: string): GroupView | undefined {
    return this.#groups.get(groupId)
  }

  addLive(live: LiveRollout): void {
    const group = this.#of(live)
    const before = group.members[live.member]
    if (before?.type === 'ended' && before.run.runId === live.runId && before.run.attempt >= live.attempt) return
    if (before?.type === 'running' && isSame(before.live, live)) return
    group.members[live.member] = { type: 'running', live }
    group.revision += 1
  }

  addRun(run: FeedRun): void {
    const group = this.#of(run)
    group.members[run.member] = { type: 'ended', run }
    group.revision += 1
  }

  addEnd(end: FeedGroup): void {
    const group = this.#of({ ...end, startedAt: end.endedAt })
    if (group.end === null) this.#ended += 1
    group.end = end
    group.revision += 1
    this.#prune()
  }

  addChunk(chunk: FeedChunk): void {
    for (const groupId of [...chunk.groups, ...chunk.dropped]) {
      const group = this.#groups.get(groupId)
      if (group === undefined) continue
      group.chunk = chunk
      group.revision += 1
    }
  }

  /** Those that form, oldest first. */
  forming(): GroupView[] {
    return [...this.#groups.values()].filter(({ end }) => end === null)
  }

  /** Those that are over, newest first. */
  ended(): GroupView[] {
    return [...this.#groups.values()]
      .filter(({ end }) => end !== null)
      .sort((one, other) => (other.end?.endedAt ?? 0) - (one.end?.endedAt ?? 0))
  }

  #of(one: { groupId: string; slug: string; step: number; startedAt: number }): GroupView {
    const known = this.#groups.get(one.groupId)
    if (known !== undefined) return known
    const { groupId, slug, step, startedAt } = one
    const made: GroupView = { groupId, slug, step, startedAt, members: [], end: null, chunk: null, revision: 0 }
    this.#groups.set(groupId, made)
    return made
  }

  #prune(): void {
    if (this.#ended <= MOST_ENDED) return
    for (const [groupId, { end }] of this.#groups) {
      if (this.#ended <= MOST_ENDED) return
      if (end === null) continue
      this.#groups.delete(groupId)
      this.#ended -= 1
    }
  }
}

function isSame(one: LiveRollout, other: LiveRollout): boolean {
  return one.runId === other.runId && one.attempt === other.attempt && one.phase === other.phase
}
