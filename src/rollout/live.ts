import type { Clock } from '../clock.ts'
import type { GroupId, RunId } from '../ids.ts'
import type { Phase } from './run.ts'

/** A rollout under way. */
export interface LiveRollout {
  readonly runId: RunId
  readonly groupId: GroupId
  readonly slug: string
  readonly step: number
  readonly member: number
  readonly attempt: number
  readonly phase: Phase
  /** Milliseconds since 1970: when it began, and when its phase did. */
  readonly startedAt: number
  readonly since: number
}

/** What goes on now. */
export interface LiveList {
  /** Those that have been under way longest, first; no more than were asked for. */
  readonly rollouts: readonly LiveRollout[]
  /** How many are in each phase, those too that are not listed. */
  readonly phases: Readonly<Partial<Record<Phase, number>>>
}

/** Says where one rollout is, until it ends. */
export interface LiveMark {
  enter(phase: Phase): void
  end(): void
}

/** Which rollouts of a thread are under way, and in which phase. Kept all the time, since an entry costs next to nothing, and read only when somebody asks. */
export interface LiveBoard {
  begin(rollout: Omit<LiveRollout, 'phase' | 'startedAt' | 'since'>): LiveMark
  list(most: number): LiveList
}

type Entry = { -readonly [Field in keyof LiveRollout]: LiveRollout[Field] }

export function makeLiveBoard(clock: Clock): LiveBoard {
  // In the order of their beginning.
  const entries = new Set<Entry>()
  return {
    begin(rollout) {
      const startedAt = clock.wallTime()
      const entry: Entry = { ...rollout, phase: 'provisioning', startedAt, since: startedAt }
      entries.add(entry)
      return {
        enter(phase) {
          entry.phase = phase
          entry.since = clock.wallTime()
        },
        end: () => void entries.delete(entry),
      }
    },
    list(most) {
      const rollouts: LiveRollout[] = []
      const phases: Partial<Record<Phase, number>> = {}
      for (const entry of entries) {
        phases[entry.phase] = (phases[entry.phase] ?? 0) + 1
        if (rollouts.length < most) rollouts.push({ ...entry })
      }
      return { rollouts, phases }
    },
  }
}

/** The lists of several threads as one. */
export function mergeLive(lists: readonly LiveList[], most: number): LiveList {
  const [only] = lists
  if (only !== undefined && lists.length === 1) return only
  const phases: Partial<Record<Phase, number>> = {}
  for (const list of lists)
    for (const [phase, count] of Object.entries(list.phases) as [Phase, number][])
      phases[phase] = (phases[phase] ?? 0) + count
  const rollouts = lists.flatMap(list => list.rollouts).sort((one, other) => one.startedAt - other.startedAt)
  return { rollouts: rollouts.slice(0, most), phases }
}
