import { duration } from '../report/units.ts'
import { toGroups } from './critical-path.ts'
import { type Found, type Suggestion, shareOf, standsOut } from './suggest.ts'
import { lengthOf, type StepTimeline } from './timeline.ts'

/** Training that no rollout hid: what kept it from beginning sooner. */
export function suggestTraining(found: Found, { calls, runs, order }: StepTimeline): readonly Suggestion[] {
  const { bothMs, trainingAloneMs } = found.overlap
  const [first] = calls.toSorted((a, b) => a.from - b.from)
  if (first === undefined || runs.length === 0) return []
  const rolloutsEnd = Math.max(...runs.map(({ to }) => to))
  const after = calls.filter(({ from }) => from >= rolloutsEnd).length
  const totalMs = bothMs + trainingAloneMs
  const facts = `Training took ${duration(totalMs)}, ${duration(bothMs)} of it while rollouts ran and ${duration(trainingAloneMs)} (${shareOf(found, trainingAloneMs)} of the step) while none did; ${after} of ${calls.length} calls began after the last rollout.`
  const readyMs = found.trainerWaits.reduce((sum, wait) => sum + wait.readyMs, 0)
  if (order === 'planned' && standsOut(found, Math.min(readyMs, trainingAloneMs))) {
    const savesMs = Math.min(readyMs, trainingAloneMs)
    const text = `${facts} For ${duration(readyMs)} it stood still while as many groups as its next call took had ended, but not the next in planned order: --order completion takes ${duration(savesMs)} off at most, and gives up that the same seed makes the same calls.`
    return [{ about: 'training', text, savesMs }]
  }
  const ends = toGroups(runs).flatMap(({ groupId, to }) => (first.groups.includes(groupId) ? [to] : []))
  const heldMs = Math.max(0, first.from - Math.min(first.from, ...ends))
  if (ends.length > 1 && standsOut(found, Math.min(heldMs, trainingAloneMs))) {
    const savesMs = Math.min(heldMs, trainingAloneMs)
    const text = `${facts} Its first call held ${ends.length} groups, the first of which was over ${duration(heldMs)} before: a smaller --chunk takes ${duration(savesMs)} off at most.`
    return [{ about: 'training', text, savesMs }]
  }
  const busyMs = calls.reduce((sum, call) => sum + lengthOf(call), 0)
  const text = `${facts} It had what it waited for as soon as that was there: what is left is that calls take ${duration(busyMs)} together.`
  return [{ about: 'training', text, savesMs: trainingAloneMs }]
}
