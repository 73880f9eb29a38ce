import { toSandboxId } from '../../src/ids.ts'
import type { Timeline } from '../../src/ladder/emulator/emulator-state.ts'
import type { Level, Sample } from '../../src/ladder/level.ts'
import { toSandboxName } from '../../src/runtimes/daytona/labels.ts'

/** Milliseconds beyond what the emulator alone took for one sandbox. */
export interface Added {
  /** From asking until usable, less the emulator's own time. */
  readonly totalMs: number
  /** Until the emulator began with it; between the steps that wait for each other; from the end of the last until usable. */
  readonly beforeMs: number
  readonly betweenMs: number
  readonly afterMs: number
}

/** A level with what our client added to the emulator's own time, a sandbox each; empty where sandboxes were ready before they were asked for. */
export type MeasuredLevel = Level & { readonly added: readonly Added[] }

/** The steps that wait for each other, by how the sandbox came to be. What runs beside them (access, previews) is on nobody's way. */
const PATHS: readonly (readonly string[])[] = [
  ['claim', 'session', 'exec', 'boot'],
  ['fork', 'resume'],
  ['create', 'session', 'exec', 'boot'],
]

/** What the client took beyond the emulator's own time; nothing for sandboxes that were ready beforehand, or that it knows nothing of. */
export function toAdded(samples: readonly Sample[], timelines: readonly Timeline[]): readonly Added[] {
  const byName = new Map(timelines.map(timeline => [timeline.name, timeline]))
  return samples.flatMap(({ sandbox, askedAtMs, usableMs, kind }) => {
    const timeline = byName.get(toSandboxName(toSandboxId(sandbox)))
    if (kind === 'hit' || timeline === undefined || timeline.floorMs === null) return []
    const first = onTheWay(timeline).at(0)
    const last = onTheWay(timeline).at(-1)
    if (first === undefined || last === undefined || last.endMs === null) return []
    const totalMs = usableMs - timeline.floorMs
    const beforeMs = first.startMs - askedAtMs
    const afterMs = askedAtMs + usableMs - last.endMs
    return [{ totalMs, beforeMs, afterMs, betweenMs: totalMs - beforeMs - afterMs }]
  })
}

function onTheWay({ steps }: Timeline) {
  const path = PATHS.find(operations => steps.some(({ operation }) => operation === operations[0])) ?? []
  return path.flatMap(operation => steps.find(step => step.operation === operation) ?? [])
}
