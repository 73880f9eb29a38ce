import type { JobId } from '../ids.ts'
import { isUnfinished } from '../job/find-unfinished.ts'
import type { JobRecord, Journal } from '../journal/journal.ts'
import { unpackTrajectory } from '../rollout/pack.ts'
import type { RunHeader } from '../rollout/run.ts'
import type { CallRecord, OptimMark } from '../training/loop/ledger.ts'
import { parseStepMarks, parseStepRecords, STEPS_PREFIX, stepPrefix } from '../training/loop/marks.ts'
import type { StepRecord } from '../training/records.ts'
import { nothingToExplain, unknownStep } from './errors.ts'
import { explainStep, type StepExplanation } from './explain-step.ts'
import type { TurnTime } from './split-run.ts'
import { nameStep, readOrder, type StepName } from './step-names.ts'
import type { StepTimeline } from './timeline.ts'
import { type KeptStep, toTimeline } from './to-timeline.ts'

/** One step of a job, with the time line that it was explained from. */
export interface ExplainedStep extends Omit<StepName, 'recordKey'>, StepExplanation {
  /** False: interrupted, or still running. */
  readonly isOver: boolean
  /** Calls that came to their end and whose time the journal does not know; they are on no time line. */
  readonly callsWithoutTime: number
  readonly timeline: StepTimeline
}

export interface JobExplanation {
  readonly jobId: JobId
  readonly name: string
  readonly isOver: boolean
  /** In the order of their beginning. */
  readonly steps: readonly ExplainedStep[]
}

/**
 * From the journal alone, whoever else is writing it; `onRun` is told of each run that is read. Throws `nothing-to-explain` of a job of which no run has ended, and `unreadable-mark` where a record of the
 * training cannot be read.
 */
export async function explainJob(
  journal: Journal,
  job: JobRecord,
  { onRun = () => {} }: { readonly onRun?: () => void } = {},
): Promise<JobExplanation> {
  const records = new Map<string, unknown>()
  for await (const { key, value } of journal.records(job.jobId, 'training/')) records.set(key, value)
  const marks = readMarks(records)
  const runs = await readRuns(journal, job.jobId, onRun)
  const endedGroups = new Set<string>()
  for await (const { groupId } of journal.groups(job.jobId)) endedGroups.add(groupId)
  const jobIsOver = !(await isUnfinished(journal, job))
  const steps = [...runs].flatMap(([step, own]): ExplainedStep[] => {
    const { recordKey, ...named } = nameStep(step, job, records.size > 0)
    const mark = marks.of(step)
    const timeline = toTimeline({
      ...mark,
      runs: own,
      order: records.size > 0 ? readOrder(job) : undefined,
      beganAt: step === 0 && named.kind === 'rollouts' ? job.startedAt : undefined,
    })
    if (timeline === undefined) return []
    const isWhole = own.every(({ header }) => endedGroups.has(header.groupId))
    const isOver = {
      training: mark.record !== undefined,
      evaluation: recordKey === undefined ? isWhole : records.has(recordKey),
      rollouts: isWhole && jobIsOver,
    }[named.kind]
    const callsWithoutTime = mark.calls.filter(({ end }) => end.type === 'over').length - timeline.calls.length
    return [{ ...named, ...explainStep(timeline), isOver, callsWithoutTime, timeline }]
  })
  if (steps.length === 0) throw nothingToExplain(job.jobId)
  const ordered = steps.toSorted((a, b) => a.startedAt - b.startedAt)
  return { jobId: job.jobId, name: job.name, isOver: jobIsOver, steps: ordered }
}

/** The step of that name or, where none is asked for, the longest of those that are no evaluation, if there is one. Throws `unknown-step`. */
export function pickStep({ jobId, steps }: JobExplanation, asked: string | undefined): ExplainedStep {
  if (asked !== undefined) {
    const found = steps.find(({ name }) => name === asked)
    if (found === undefined)
      throw unknownStep(
        jobId,
        asked,
        steps.map(({ name }) => name),
      )
    return found
  }
  const own = steps.filter(({ kind }) => kind !== 'evaluation')
  const [longest] = (own.length === 0 ? steps : own).toSorted((a, b) => b.wallMs - a.wallMs)
  if (longest === undefined) throw nothingToExplain(jobId)
  return longest
}

type Runs = Map<number, { readonly header: RunHeader; readonly turns: readonly TurnTime[] }[]>

/** By step; of the trajectories only when their turns were. */
async function readRuns(journal: Journal, jobId: JobId, onRun: () => void): Promise<Runs> {
  const runs: Runs = new Map()
  for await (const header of journal.runs(jobId)) {
    onRun()
    const { turns } = unpackTrajectory(journal.trajectory(header.runId))
    const own = runs.get(header.step) ?? []
    own.push({ header, turns: turns.map(({ role, atMs, tookMs }) => ({ role, atMs, tookMs })) })
    runs.set(header.step, own)
  }
  return runs
}

interface Mark {
  readonly calls: readonly CallRecord[]
  readonly optim: OptimMark | undefined
  readonly record: StepRecord | undefined
  readonly beforeEndedAt: KeptStep['beforeEndedAt']
}

function readMarks(records: ReadonlyMap<string, unknown>): { of(step: number): Mark } {
  const beginningWith = (prefix: string) => new Map([...records].filter(([key]) => key.startsWith(prefix)))
  const ended = new Map(parseStepRecords(beginningWith(STEPS_PREFIX)).map(record => [record.step, record]))

  function of(step: number): Mark {
    const { calls, optim } = parseStepMarks(beginningWith(stepPrefix(step)))
    return { calls, optim, record: ended.get(step), beforeEndedAt: step === 0 ? undefined : endOf(step - 1) }
  }

  function endOf(step: number): number | undefined {
    const { optim } = parseStepMarks(beginningWith(stepPrefix(step)))
    if (optim?.type === 'stepped' && optim.startedAt !== undefined) return optim.startedAt + optim.tookMs
    const record = ended.get(step)
    return record?.startedAt === undefined ? undefined : record.startedAt + record.wallMs
  }

  return { of }
}
