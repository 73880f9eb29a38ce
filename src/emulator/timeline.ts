import type { Operation } from './figures.ts'

/** What is timed of a sandbox on its way to usable. `accept` and `claim` end with the answer to the create, `create` and `fork` with a started sandbox. */
export type TimedOperation =
  | Extract<Operation, 'accept' | 'create' | 'claim' | 'fork' | 'session' | 'exec' | 'boot' | 'resume' | 'sshAccess'>
  | 'preview'

/** Real milliseconds since 1970 with fractions, on one clock: that of `performance.timeOrigin + performance.now()`. */
export interface TimelineStep {
  readonly operation: TimedOperation
  readonly startMs: number
  /** Null while it is under way. */
  readonly endMs: number | null
}

/** The life of one sandbox as the emulator lived it, step by step. */
export interface SandboxTimeline {
  readonly id: string
  readonly name: string
  /** In the order in which they began. */
  readonly steps: readonly TimelineStep[]
  /**
   * What a client that loses no time needs from the create to an answering server: its create, claim or fork, then session, exec and boot (of a fork:
   * resume), one after the other. Null before all of that has ended, and where a server was never started.
   */
  readonly floorMs: number | null
}

interface Entry {
  readonly id: string
  name: string
  readonly steps: { readonly operation: TimedOperation; readonly startMs: number; endMs: number | null }[]
}

/** The last so many sandboxes are kept, those that are gone included. */
const KEPT_SANDBOXES = 20_000
/** Whoever goes on running commands in a sandbox has long been using it. */
const KEPT_STEPS = 32

/** When what happened to each sandbox, for whoever measures a client against the emulator's own durations. */
export function makeTimelines(now: () => number, kept = KEPT_SANDBOXES) {
  const entries = new Map<string, Entry>()
  const names = new Map<string, Entry>()

  function forgetOldest(): void {
    const [oldest] = entries.values()
    if (oldest === undefined) return
    entries.delete(oldest.id)
    if (names.get(oldest.name) === oldest) names.delete(oldest.name)
  }

  return {
    begin(id: string, name: string): void {
      if (entries.size >= kept) forgetOldest()
      const entry = { id, name, steps: [] }
      entries.set(id, entry)
      names.set(name, entry)
    },
    rename(id: string, name: string): void {
      const entry = entries.get(id)
      if (entry === undefined) return
      if (names.get(entry.name) === entry) names.delete(entry.name)
      entry.name = name
      names.set(name, entry)
    },
    /** Notes that the operation begins now, and when `work` settles that it has ended. */
    async time<Value>(id: string, operation: TimedOperation, work: Promise<Value>): Promise<Value> {
      const steps = entries.get(id)?.steps
      if (steps === undefined || steps.length >= KEPT_STEPS) return work
      const step = { operation, startMs: now(), endMs: null as number | null }
      steps.push(step)
      try {
        return await work
      } finally {
        step.endMs = now()
      }
    },
    of(idOrName: string): SandboxTimeline | undefined {
      const entry = entries.get(idOrName) ?? names.get(idOrName)
      return entry === undefined ? undefined : toTimeline(entry)
    },
    /** The newest `limit`, the oldest of them first. */
    newest(limit: number): SandboxTimeline[] {
      return [...entries.values()].slice(-limit).map(toTimeline)
    },
  }
}

export type Timelines = ReturnType<typeof makeTimelines>

function toTimeline({ id, name, steps }: Entry): SandboxTimeline {
  return { id, name, steps: steps.map(step => ({ ...step })), floorMs: toFloor(steps) }
}

const ORIGINS = ['claim', 'fork', 'create'] as const

function toFloor(steps: readonly TimelineStep[]): number | null {
  const origin = ORIGINS.find(each => steps.some(({ operation }) => operation === each))
  if (origin === undefined) return null
  // A child that resumes needs no server of its own; whatever was started in it beside that is not on its way.
  const resumes = origin === 'fork' && steps.some(({ operation }) => operation === 'resume')
  let floor = 0
  for (const operation of resumes ? [origin, 'resume'] : [origin, 'session', 'exec', 'boot']) {
    const step = steps.find(each => each.operation === operation)
    if (step === undefined || step.endMs === null) return null
    floor += step.endMs - step.startMs
  }
  return floor
}
