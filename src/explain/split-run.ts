import { PHASES, type RunHeader } from '../rollout/run.ts'
import type { Turn } from '../rollout/trajectory.ts'
import type { Part, Segment } from './timeline.ts'

/** When a turn was and whose it was. */
export type TurnTime = Pick<Turn, 'role' | 'atMs' | 'tookMs'>

/** The cleanup is laid at the end. A verifier's stay follows the cleanup of the first sandbox, whose time is not kept apart. */
const UNTIL_CLEANUP = PHASES.filter(phase => phase !== 'cleanup')

/**
 * A run's time from `from` to its end, without a gap: its phases one after the other, the agent's by its turns. What no phase has, such as asking why a sandbox
 * died, is `other`. Durations that are longer than the run together, by the rounding of its wall clock, are cut at its end.
 */
export function splitRun(
  header: Pick<RunHeader, 'timings' | 'startedAt' | 'endedAt' | 'lease'>,
  turns: readonly TurnTime[],
  from: number,
): readonly Segment[] {
  const to = from + Math.max(0, header.endedAt - header.startedAt)
  const cleanupFrom = Math.max(from, to - (header.timings.cleanup ?? 0))
  const segments: Segment[] = []
  let at = from

  function lay(part: Part, until: number): void {
    const end = Math.min(until, to)
    if (end > at) segments.push({ part, from: at, to: end })
    at = Math.max(at, end)
  }

  for (const phase of UNTIL_CLEANUP) {
    const took = header.timings[phase] ?? 0
    const end = at + took
    if (phase === 'agent') for (const turn of splitAgent(turns, at, end)) lay(turn.part, turn.to)
    else lay(phase === 'provisioning' ? `sandbox-${header.lease ?? 'none'}` : phase, end)
  }
  lay('other', cleanupFrom)
  lay('cleanup', to)
  return segments
}

/** The agent's phase: its model while a turn of the assistant lasts, its tools while one of theirs does, and the agent itself in between. */
function splitAgent(turns: readonly TurnTime[], from: number, to: number): readonly Segment[] {
  const segments: Segment[] = []
  let at = from
  const lay = (part: Part, until: number) => {
    const end = Math.min(until, to)
    if (end > at) segments.push({ part, from: at, to: end })
    at = Math.max(at, end)
  }
  // Turns that overlap, as tools that ran side by side: each instant goes to the one that began first.
  for (const { role, atMs, tookMs } of turns.toSorted((a, b) => a.atMs - b.atMs || a.tookMs - b.tookMs)) {
    lay('agent', from + atMs)
    lay(role === 'assistant' ? 'model' : 'tools', from + atMs + tookMs)
  }
  lay('agent', to)
  return segments
}
