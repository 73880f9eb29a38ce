import type { GroupId, RunId } from '../ids.ts'
import { unite } from './spans.ts'
import {
  type CallTimeline,
  lengthOf,
  type Part,
  type RunTimeline,
  type Segment,
  type Span,
  type StepTimeline,
} from './timeline.ts'

/** Whose time it was: a run's, a training call's, or nobody's. */
export type PieceOwner =
  | { readonly type: 'run'; readonly run: RunTimeline }
  | { readonly type: 'call'; readonly call: CallTimeline }
  | { readonly type: 'nobody' }

export interface PathPiece extends Segment {
  readonly owner: PieceOwner
}

/** Wall clocks of one machine that were rounded: what ends so much after another began may still have been waited for. */
const SKEW_MS = 2
/** What is longer, from the end of a call's last group to the call, was a wait for something else: an earlier group, in planned order. */
const HANDOVER_MS = 50

const NOBODY: PieceOwner = { type: 'nobody' }

/**
 * What the step's end waited for, and what that had waited for, back to its start: contiguous, and as long as the step. A call waits for its groups and for the
 * call before it, a group for its last member, a run that did not begin with the step for the rollout that ended last before it and so made room.
 */
export function findCriticalPath(timeline: StepTimeline): readonly PathPiece[] {
  return new Walk(timeline).back()
}

/** A group on the step's time line: from its first member's start to its last one's end. */
export interface GroupTimeline extends Span {
  readonly groupId: GroupId
  readonly index: number
  /** The member that ended last. */
  readonly last: RunTimeline
}

/** In an order that does not depend on the order of the runs. */
export function toGroups(runs: readonly RunTimeline[]): readonly GroupTimeline[] {
  const byId = new Map<GroupId, RunTimeline[]>()
  for (const run of runs) {
    const members = byId.get(run.groupId)
    if (members === undefined) byId.set(run.groupId, [run])
    else members.push(run)
  }
  return [...byId.values()]
    .flatMap(members => {
      const [last] = members.toSorted((a, b) => b.to - a.to || a.member - b.member)
      if (last === undefined) return []
      const { groupId, index, to } = last
      return [{ groupId, index, from: Math.min(...members.map(({ from }) => from)), to, last }]
    })
    .toSorted((a, b) => a.index - b.index || (a.groupId < b.groupId ? -1 : 1))
}

class Walk {
  readonly #timeline: StepTimeline
  readonly #groups: readonly GroupTimeline[]
  readonly #runs: readonly RunTimeline[]
  readonly #calls: readonly CallTimeline[]
  /** When anything was under way. */
  readonly #busy: readonly Span[]
  readonly #seen = new Set<RunId>()
  readonly #pieces: PathPiece[] = []
  #at: number

  constructor(timeline: StepTimeline) {
    this.#timeline = timeline
    this.#groups = toGroups(timeline.runs)
    this.#runs = timeline.runs.toSorted(
      (a, b) => a.index - b.index || a.member - b.member || (a.runId < b.runId ? -1 : 1),
    )
    this.#calls = timeline.calls.toSorted((a, b) => a.from - b.from || a.call - b.call)
    this.#busy = unite([...timeline.runs, ...timeline.calls])
    this.#at = timeline.durationMs
  }

  back(): readonly PathPiece[] {
    const { optimiser } = this.#timeline
    const call = this.#calls.at(-1)
    const group = latest(this.#groups, this.#at)
    if (optimiser !== undefined) {
      this.#lay('closing', optimiser.to, NOBODY)
      this.#lay('optimiser', optimiser.from, NOBODY)
      this.#fromTrainer('handover', call, latest(this.#groups, this.#at + SKEW_MS))
    } else this.#fromTrainer('closing', call, group)
    this.#lay('beginning', 0, NOBODY)
    return this.#pieces.toReversed()
  }

  /** Goes back from here to whichever was over last. */
  #fromTrainer(gap: Part, call: CallTimeline | undefined, group: GroupTimeline | undefined): void {
    if (call !== undefined && call.to >= (group?.to ?? 0)) {
      this.#lay(gap, call.to, NOBODY)
      this.#fromCall(call)
    } else if (group !== undefined) {
      this.#lay(gap, group.to, NOBODY)
      this.#fromGroup(group)
    }
  }

  #fromCall(last: CallTimeline): void {
    for (let call: CallTimeline | undefined = last; call !== undefined; ) {
      this.#lay('training', call.from, { type: 'call', call })
      const ended = this.#at + SKEW_MS
      const before: CallTimeline | undefined = this.#calls[this.#calls.indexOf(call) - 1]
      const own = new Set(call.groups)
      let group = latest(
        this.#groups.filter(({ groupId }) => own.has(groupId)),
        ended,
      )
      const stepBefore = this.#timeline.beforeEndedAt ?? 0
      const known = Math.max(before?.to ?? 0, group?.to ?? 0, stepBefore <= ended ? stepBefore : 0)
      const any = latest(this.#groups, ended)
      if (this.#at - known > HANDOVER_MS && any !== undefined && any.to > known) group = any
      if (stepBefore <= ended && stepBefore > Math.max(before?.to ?? 0, group?.to ?? 0)) {
        this.#lay('handover', stepBefore, NOBODY)
        this.#lay('step-before', 0, NOBODY)
        return
      }
      if (before === undefined || (group?.to ?? 0) > before.to) {
        if (group === undefined) return
        this.#lay('handover', group.to, NOBODY)
        this.#fromGroup(group)
        return
      }
      this.#lay('handover', before.to, NOBODY)
      call = before
    }
  }

  #fromGroup(group: GroupTimeline): void {
    for (let run: RunTimeline | undefined = group.last; run !== undefined; ) {
      const { groupId }: RunTimeline = run
      const owner: PieceOwner = { type: 'run', run }
      this.#seen.add(run.runId)
      for (const { part, from } of run.segments.toReversed()) this.#lay(part, from, owner)
      this.#lay('other', run.from, owner)
      const begun = this.#groups.find(each => each.groupId === groupId)?.from ?? run.from
      if (run.isLater) this.#lay('earlier-attempts', begun, owner)
      // Room is made by single rollouts, not by whole groups.
      const before: RunTimeline | undefined = latest(
        this.#runs.filter(each => each.groupId !== groupId && !this.#seen.has(each.runId)),
        this.#at + SKEW_MS,
      )
      if (before !== undefined) this.#layWait({ from: before.to, to: this.#at })
      run = before
    }
  }

  /** Between a rollout's end and the start of the one that it made room for. While nothing at all was under way, no process may have been there. */
  #layWait(gap: Span): void {
    const isIdle = lengthOf(gap) > HANDOVER_MS && !this.#busy.some(({ from, to }) => from < gap.to && to > gap.from)
    this.#lay(isIdle ? 'stopped' : 'turn', gap.from, NOBODY)
  }

  /** From there to where the walk is; nothing where that is no way back. */
  #lay(part: Part, from: number, owner: PieceOwner): void {
    const to = this.#at
    this.#at = Math.max(0, Math.min(to, from))
    if (this.#at < to) this.#pieces.push({ part, from: this.#at, to, owner })
  }
}

/** The one that ended last, but not after `at`. */
function latest<Timed extends Span>(spans: readonly Timed[], at: number): Timed | undefined {
  let found: Timed | undefined
  for (const span of spans) if (span.to <= at && (found === undefined || span.to > found.to)) found = span
  return found
}
