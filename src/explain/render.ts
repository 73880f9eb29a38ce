import { renderTable } from '../report/table.ts'
import { duration, percent } from '../report/units.ts'
import type { ExplainedStep, JobExplanation } from './explain-job.ts'
import { type Leg, toLegs } from './legs.ts'
import type { PartTime } from './sum-parts.ts'
import { WORDS } from './words.ts'

/** Legs of a long path, and waits of a trainer, that are shown one by one. */
const MOST_LEGS = 24
const MOST_WAITS = 5
const NOTHING = '–'

/** All steps in a line each, then one of them as it was: its parts, its critical path, what its trainer waited for, what would shorten it. */
export function renderExplanation(job: JobExplanation, step: ExplainedStep): string {
  const isAlone = job.steps.length === 1
  return [
    `${job.jobId}  ${job.name}${job.isOver ? '' : ', not over: interrupted, or still running'}`,
    ...(isAlone ? [] : [renderSteps(job.steps)]),
    renderStep(step),
  ].join('\n\n')
}

function renderSteps(steps: readonly ExplainedStep[]): string {
  return renderTable(
    ['step', 'wall', 'rollouts alone', 'both at once', 'training alone', 'neither', 'most of the critical path'],
    steps.map(step => {
      const { rolloutsAloneMs, bothMs, trainingAloneMs, neitherMs } = step.overlap
      const [most] = step.parts.toSorted((a, b) => b.pathMs - a.pathMs)
      return [
        `${step.label}${step.isOver ? '' : ' (not over)'}`,
        duration(step.wallMs),
        ...[rolloutsAloneMs, bothMs, trainingAloneMs, neitherMs].map(orNothing),
        most === undefined ? NOTHING : `${WORDS[most.part]} ${percent(most.pathMs / step.wallMs)}`,
      ]
    }),
    { left: [0, 6] },
  )
}

function renderStep(step: ExplainedStep): string {
  const { rolloutsAloneMs, bothMs, trainingAloneMs, neitherMs } = step.overlap
  const isTrained = step.timeline.calls.length > 0
  return [
    `${step.label}: ${duration(step.wallMs)}${step.isOver ? '' : ' so far'}, ${step.rollouts} rollouts in ${step.groups} groups, at most ${step.peak} at once`,
    ...(step.callsWithoutTime === 0
      ? []
      : [
          `The times of ${step.callsWithoutTime} training calls are not in this journal: they were adopted after a crash, or made by an earlier version. They are left out below.`,
        ]),
    `Where the time went\n${renderParts(step.parts, step.wallMs)}`,
    `What overlapped: rollouts alone ${duration(rolloutsAloneMs)} + both at once ${duration(bothMs)} + training alone ${duration(trainingAloneMs)} + neither ${duration(neitherMs)} = ${duration(step.wallMs)}`,
    `Critical path: what the end waited for\n${renderPath(toLegs(step.path))}`,
    ...(isTrained ? [`The trainer\n${renderWaits(step)}`] : []),
    `What would shorten it\n${renderSuggestions(step)}`,
  ].join('\n\n')
}

function renderParts(parts: readonly PartTime[], wallMs: number): string {
  const sum = (pick: (part: PartTime) => number) => parts.reduce((total, part) => total + pick(part), 0)
  const row = (name: string, pathMs: number, others: readonly number[]) => [
    name,
    orNothing(pathMs),
    pathMs > 0 && wallMs > 0 ? percent(pathMs / wallMs) : NOTHING,
    ...others.map(orNothing),
  ]
  return renderTable(
    ['part', 'critical path', 'share', 'of it for stragglers', 'in all rollouts', 'siblings waited'],
    [
      ...parts.map(part => row(WORDS[part.part], part.pathMs, [part.stragglersMs, part.rolloutsMs, part.siblingsMs])),
      row(
        'in all',
        sum(part => part.pathMs),
        [sum(part => part.stragglersMs), sum(part => part.rolloutsMs), sum(part => part.siblingsMs)],
      ),
    ],
  )
}

function renderPath(legs: readonly Leg[]): string {
  const half = MOST_LEGS / 2
  const isLong = legs.length > MOST_LEGS
  const shown = isLong ? [...legs.slice(0, half), undefined, ...legs.slice(-half)] : legs
  const rows = shown.map(leg =>
    leg === undefined
      ? [`… ${legs.length - MOST_LEGS} more`, '', '', '']
      : [duration(leg.from), duration(leg.to - leg.from), ownerOf(leg), spentOn(leg)],
  )
  return renderTable(['at', 'took', 'whose', 'spent on'], rows, { left: [2, 3] })
}

function ownerOf({ owner }: Leg): string {
  if (owner.type === 'run') return `${owner.run.slug} member ${owner.run.member} (${owner.run.runId})`
  return owner.type === 'call' ? `training call ${owner.call.call}` : ''
}

function spentOn({ parts, owner }: Leg): string {
  if (owner.type !== 'run' || parts.length === 1) return parts.map(({ part }) => WORDS[part]).join(', ')
  return parts.map(({ part, ms }) => `${WORDS[part]} ${duration(ms)}`).join('; ')
}

function renderWaits({ trainerWaits, overlap }: ExplainedStep): string {
  const totalMs = trainerWaits.reduce((sum, { waitedMs }) => sum + waitedMs, 0)
  const longest = trainerWaits
    .filter(({ waitedMs }) => waitedMs > 0)
    .toSorted((a, b) => b.waitedMs - a.waitedMs || a.call - b.call)
    .slice(0, MOST_WAITS)
  return [
    `worked ${duration(overlap.bothMs + overlap.trainingAloneMs)}, and stood still ${duration(totalMs)} before its ${trainerWaits.length} calls:`,
    ...longest.map(
      ({ call, waitedMs, last }) =>
        `  ${duration(waitedMs)} before call ${call}${last === null ? '' : `, whose last group was ${last.slug} with member ${last.member} (${last.runId})`}`,
    ),
    ...(trainerWaits.length > longest.length ? [`  and ${trainerWaits.length - longest.length} shorter or none`] : []),
  ].join('\n')
}

function renderSuggestions({ suggestions }: ExplainedStep): string {
  if (suggestions.length === 0) return 'Nothing stands out.'
  return suggestions.map(({ text }, index) => `${index + 1}. ${text}`).join('\n')
}

function orNothing(ms: number): string {
  return ms > 0 ? duration(ms) : NOTHING
}
