import { duration, percent } from '../report/units.ts'
import { ascending, quantile } from '../simulation/quantile.ts'
import type { StepExplanation } from './explain-step.ts'
import { suggestTraining } from './suggest-training.ts'
import { lengthOf, type Part, type RunTimeline, type StepTimeline } from './timeline.ts'
import { WORDS } from './words.ts'

/** What would shorten a step, with the arithmetic that says so. */
export interface Suggestion {
  readonly about: 'sandboxes' | 'straggler' | 'width' | 'training' | 'attempts' | 'stopped' | 'beginning' | 'part'
  readonly text: string
  /** Off the step's wall time, at most. */
  readonly savesMs: number
}

export type Found = Omit<StepExplanation, 'suggestions'>

/** Shares of the step's wall time from which on something stands out, or leads; and what is too short to be told from chance. */
const STANDS_OUT = 0.1
const LEADS = 0.3
const LEAST_MS = 100

/** The most first. Empty where nothing stands out. */
export function suggest(found: Found, timeline: StepTimeline): readonly Suggestion[] {
  const suggestions = [
    ...suggestSandboxes(found, timeline),
    ...suggestStraggler(found, timeline),
    ...suggestWidth(found, timeline),
    ...suggestTraining(found, timeline),
    ...suggestWaits(found, timeline),
    ...suggestParts(found),
  ]
  return suggestions
    .filter(({ about, savesMs }) => about === 'part' || standsOut(found, savesMs))
    .toSorted((a, b) => b.savesMs - a.savesMs)
}

/** Whether so much of a step is worth a word. */
export const standsOut = ({ wallMs }: Found, ms: number): boolean => ms >= Math.max(LEAST_MS, wallMs * STANDS_OUT)

const pathMsOf = ({ parts }: Found, wanted: Part): number => parts.find(({ part }) => part === wanted)?.pathMs ?? 0

export const shareOf = ({ wallMs }: Found, ms: number): string => percent(wallMs === 0 ? null : ms / wallMs)

const LEASES = [
  ['cold', 'cold'],
  ['claim', 'claimed'],
  ['fork', 'forked'],
  ['hit', 'ready'],
  ['none', 'that never came'],
] as const
const MADE: readonly Part[] = ['sandbox-cold', 'sandbox-claim', 'sandbox-fork', 'sandbox-none']

function suggestSandboxes(found: Found, { runs }: StepTimeline): readonly Suggestion[] {
  const { leases, path, peak, wallMs } = found
  const waits = path.filter(({ part }) => MADE.includes(part))
  const waitedMs = waits.reduce((sum, piece) => sum + lengthOf(piece), 0)
  if (waitedMs === 0) return []
  const { hit = 0 } = leases
  const kinds = LEASES.flatMap(([kind, word]) => {
    const count = leases[kind] ?? 0
    return count === 0 ? [] : [`${count} ${word}`]
  })
  const readyMs = quantile(ascending(runs.flatMap(run => (run.lease === 'hit' ? [run.provisioningMs] : []))), 0.5)
  const savesMs = hit === 0 ? waitedMs : Math.max(0, waitedMs - waits.length * readyMs)
  const arithmetic =
    hit === 0
      ? `None was ready beforehand, so what a wait would be then is not known from this step: ${duration(waitedMs)} is the most that it can take off.`
      : `One that is ready comes after ${duration(readyMs)} at the median: ${duration(waitedMs)} − ${waits.length} × ${duration(readyMs)} = ${duration(savesMs)} less.`
  const text = `Sandboxes were waited for ${percent(waitedMs / wallMs)} of the critical path: ${duration(waitedMs)} of ${duration(wallMs)}, in ${waits.length} ${waits.length === 1 ? 'wait' : 'waits'}. ${runs.length} leases: ${kinds.join(', ')}. ${arithmetic} --pool ${peak} has one ready for each of the ${peak} rollouts that were under way at once.`
  return [{ about: 'sandboxes', text, savesMs }]
}

const WORK: readonly Part[] = ['model', 'tools', 'agent']
const workMsOf = ({ segments }: RunTimeline): number =>
  segments.reduce((sum, segment) => (WORK.includes(segment.part) ? sum + lengthOf(segment) : sum), 0)

function suggestStraggler({ straggler, path, wallMs }: Found, { runs }: StepTimeline): readonly Suggestion[] {
  if (straggler === undefined) return []
  const { of, run, count, aloneMs, endedAtMs, spent } = straggler
  // Where the step's end did not wait for it, as for a group that is not trained on, nothing is won.
  if (!path.some(({ owner }) => owner.type === 'run' && owner.run.runId === run.runId)) return []
  const [most] = spent
  const did = most === undefined ? '' : `, and its time alone went to: ${WORDS[most.part]} ${duration(most.ms)}`
  const who =
    of === 'groups'
      ? `1 of ${count} groups ended ${duration(aloneMs)} after the ${ordinal(count - 1)}: that of ${run.slug}. Its member ${run.member} (${run.runId}) was last${did}.`
      : `1 of ${count} members ended ${duration(aloneMs)} after the ${ordinal(count - 1)}: member ${run.member} of ${run.slug} (${run.runId})${did}.`
  const text = `${who} Ended with the ones before, rollouts would be over at ${duration(endedAtMs)} − ${duration(aloneMs)} = ${duration(endedAtMs - aloneMs)}, ${percent(wallMs === 0 ? null : aloneMs / wallMs)} of the step sooner.${deadlineFor(straggler.run.runId, most?.part, runs)}`
  return [{ about: 'straggler', text, savesMs: aloneMs }]
}

/** Where the agent's phase was the cause: the limit that would have cut this rollout and no other. */
function deadlineFor(runId: string, cause: Part | undefined, runs: readonly RunTimeline[]): string {
  const own = runs.find(run => run.runId === runId)
  if (own === undefined || cause === undefined || !WORK.includes(cause)) return ''
  const others = Math.max(0, ...runs.flatMap(run => (run === own ? [] : [workMsOf(run)])))
  const limit = Math.ceil(others / 1000)
  if (limit === 0 || workMsOf(own) <= limit * 1000) return ''
  return ` Its agent took ${duration(workMsOf(own))}, the longest of all others ${duration(others)}: --deadline agent=${limit} would have cut this one alone, and had it graded on what it left.`
}

function suggestWidth({ path, peak, rollouts }: Found, { runs }: StepTimeline): readonly Suggestion[] {
  const inTurn = new Set(path.flatMap(({ owner }) => (owner.type === 'run' ? [owner.run.runId] : []))).size
  if (inTurn < 2 || peak >= rollouts) return []
  const from = Math.min(...runs.map(run => run.from))
  const allMs = Math.max(...runs.map(run => run.to)) - from
  const longestMs = Math.max(...runs.map(lengthOf))
  const savesMs = allMs - longestMs
  const text = `At most ${peak} of ${rollouts} rollouts were under way at once, and the critical path goes through ${inTurn} of them, one after the other. All of them took ${duration(allMs)}, the longest alone ${duration(longestMs)}: --max-concurrent ${rollouts} takes ${duration(allMs)} − ${duration(longestMs)} = ${duration(savesMs)} off at most, as far as model and sandboxes keep up.`
  return [{ about: 'width', text, savesMs }]
}

function suggestWaits(found: Found, { runs }: StepTimeline): readonly Suggestion[] {
  const attempts = pathMsOf(found, 'earlier-attempts')
  const stopped = pathMsOf(found, 'stopped')
  const beginning = pathMsOf(found, 'beginning')
  const later = runs.filter(({ isLater }) => isLater).length
  return [
    {
      about: 'attempts',
      text: `Attempts that failed before the one that counts were waited for ${shareOf(found, attempts)} of the critical path: ${duration(attempts)}. ${later} of ${runs.length} rollouts needed another.`,
      savesMs: attempts,
    },
    {
      about: 'stopped',
      text: `For ${duration(stopped)}, ${shareOf(found, stopped)} of the critical path, nothing was under way: between one process and the next, or waiting to go on.`,
      savesMs: stopped,
    },
    {
      about: 'beginning',
      text: `The first rollout of the critical path began ${duration(beginning)} after the step, ${shareOf(found, beginning)} of it: what starts an engine is paid again by each process.`,
      savesMs: beginning,
    },
  ]
}

const LEADING: readonly Part[] = [...WORK, 'connecting', 'starting', 'grading', 'verifying', 'cleanup', 'optimiser']

/** What took most of the path, and what half of it would be: not how, because the journal does not know. */
function suggestParts(found: Found): readonly Suggestion[] {
  return LEADING.flatMap((part): Suggestion[] => {
    const ms = pathMsOf(found, part)
    if (ms < Math.max(LEAST_MS, found.wallMs * LEADS)) return []
    const pieces = found.path.filter(piece => piece.part === part)
    const median = quantile(ascending(pieces.map(lengthOf)), 0.5)
    const times = `${pieces.length} ${pieces.length === 1 ? 'stretch' : `stretches of ${duration(median)} at the median`}`
    return [
      {
        about: 'part',
        text: `${shareOf(found, ms)} of the critical path went to: ${WORDS[part]}, ${duration(ms)} in ${times}. Twice as fast takes ${duration(ms)} ÷ 2 = ${duration(ms / 2)} off at most.`,
        savesMs: ms / 2,
      },
    ]
  })
}

function ordinal(count: number): string {
  const ending = { 1: 'st', 2: 'nd', 3: 'rd' }[count % 100 > 10 && count % 100 < 14 ? 0 : count % 10] ?? 'th'
  return `${count}${ending}`
}
