import type { LaneItem } from '../model/lanes.ts'
import { duration, elapsed, reward } from '../words.ts'

/** Who it is and how it does, in a sentence. */
export function tellItem(item: LaneItem, at: number, late: ReadonlySet<string>): string {
  const { slug, member, attempt, run } = item
  const who = `${slug}, member ${member}${attempt > 1 ? `, attempt ${attempt}` : ''}`
  const mark = late.has(item.runId) ? ' Far beyond its siblings.' : ''
  if (run !== null) {
    const end = run.reward === null ? `${run.outcome}, ${run.stopReason}` : `reward ${reward(run.reward)}`
    return `${who}: ${end}, after ${duration(run.endedAt - run.startedAt)} (${tellTimings(run.timings)}).${mark}`
  }
  if (item.endedAt !== null) return `${who}: ended; how is not known yet.${mark}`
  const inAll = at - item.startedAt
  return `${who}: ${item.phase} for ${elapsed(at - item.since)}, ${elapsed(inAll)} in all.${mark}`
}

function tellTimings(timings: Readonly<Record<string, number>>): string {
  return Object.entries(timings)
    .map(([phase, ms]) => `${phase} ${duration(ms)}`)
    .join(', ')
}
