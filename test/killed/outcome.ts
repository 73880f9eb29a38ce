import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '../../src/clock.ts'
import type { JobId } from '../../src/ids.ts'
import type { Journal } from '../../src/journal/journal.ts'
import { openLmdbJournal } from '../../src/journal/lmdb-journal.ts'
import { decodePolicy } from '../../src/policy/policy-file.ts'
import { digestWeights } from '../../src/policy/server/blob-codec.ts'
import { indexSchema } from '../../src/policy/server/records.ts'
import { namedBlobs } from '../../src/policy/server/store-index.ts'
import { planGroups } from '../../src/taskset/plan-groups.ts'
import {
  EVALUATIONS_PREFIX,
  parseEvaluations,
  parseStepMarks,
  parseStepRecords,
  STEPS_PREFIX,
  stepPrefix,
} from '../../src/training/loop/marks.ts'
import { evaluationStep } from '../../src/training/loop/schedule.ts'
import { EVALUATION_GROUP, GROUP, loadTasks, SEED, STEPS } from './training.ts'

/** False while the same command would go on with it. */
export function isOver(directory: string): Promise<boolean> {
  return readJob(directory, async (journal, jobId) => (await readHistory(journal, jobId)).isWhole)
}

/**
 * What is durable of a training that is over, without times, without the names that differ from job to job, and without what only the
 * answers of calls could have told: two trainings of one seed must have the same, however often one of them was killed.
 */
export function readOutcome(directory: string) {
  return readJob(directory, async (journal, jobId) => ({
    ...(await readHistory(journal, jobId)),
    runs: await readRuns(journal, jobId),
    ...(await readTraining(journal, jobId)),
    policy: readPolicy(join(directory, '.troupe/policies', jobId)),
  }))
}

export type TrainingOutcome = Awaited<ReturnType<typeof readOutcome>>

/** Throws unless there is just one job: whoever goes on begins no other. */
async function readJob<Value>(
  directory: string,
  read: (journal: Journal, jobId: JobId) => Promise<Value>,
): Promise<Value> {
  const location = join(directory, '.troupe/journal')
  const journal = await openLmdbJournal({ directory: location, clock: systemClock, role: 'owner', readOnly: true })
  try {
    const [job, ...others] = await journal.jobs()
    if (job === undefined || others.length > 0) throw new Error(`${1 + others.length} jobs in the journal, not one`)
    return await read(journal, job.jobId)
  } finally {
    await journal.close()
  }
}

async function readHistory(journal: Journal, jobId: JobId) {
  const records = (prefix: string) => readRecords(journal, jobId, prefix)
  const steps = parseStepRecords(await records(STEPS_PREFIX))
  const evaluations = parseEvaluations(await records(EVALUATIONS_PREFIX))
  return {
    isWhole: steps.length === STEPS && evaluations.length === 2,
    steps: steps.map(({ step, runs, solved, errored, samples, tokens, chunks, optimStep, end, groups }) => {
      return { step, runs, solved, errored, samples, tokens, chunks, optimStep, end: end.type, groups }
    }),
    evaluations: evaluations.map(({ afterSteps, split, runs, solved, errored }) => {
      return { afterSteps, split, runs, solved, errored }
    }),
  }
}

async function readRecords(journal: Journal, jobId: JobId, prefix: string): Promise<ReadonlyMap<string, unknown>> {
  const records = new Map<string, unknown>()
  for await (const { key, value } of journal.records(jobId, prefix)) records.set(key, value)
  return records
}

/** Every run by its place in the plan. Those that nobody planned, and those that are missing, are named apart. */
async function readRuns(journal: Journal, jobId: JobId) {
  const planned = await planRuns(jobId)
  const found: Record<string, string> = {}
  const unplanned: string[] = []
  for await (const { runId, outcome, reward, seed } of journal.runs(jobId)) {
    const place = planned.get(runId)
    if (place === undefined || place in found) unplanned.push(runId)
    else found[place] = `${outcome} ${reward} ${seed}`
  }
  const missing = [...planned.values()].filter(place => !(place in found))
  return { found, unplanned, missing }
}

async function planRuns(jobId: JobId): Promise<ReadonlyMap<string, string>> {
  const { train, heldOut } = await loadTasks()
  const steps = Array.from({ length: STEPS }, (_, step) =>
    planGroups({ jobId, tasks: train.tasks, group: GROUP, seed: SEED, step }),
  )
  const evaluations = [0, STEPS].map(after =>
    planGroups({
      jobId,
      tasks: heldOut.tasks,
      group: EVALUATION_GROUP,
      seed: SEED,
      step: evaluationStep(after, 0, 1),
    }),
  )
  const groups = [...steps, ...evaluations].flat()
  return new Map(
    groups.flatMap(({ step, task, members }) =>
      members.map(({ runId, member }) => [runId, `step ${step} ${task.slug} ${member}`] as const),
    ),
  )
}

/** What became of each group, and the calls of each step by whose groups they brought into the model, in their order. */
async function readTraining(journal: Journal, jobId: JobId) {
  const names = new Map<string, string>()
  const groups: Record<string, string> = {}
  for await (const { groupId, step, task, end, consumption, reason } of journal.groups(jobId)) {
    const name = `step ${step} ${task.slug}`
    names.set(groupId, name)
    groups[name] = `${end.type}, ${consumption}${reason === undefined ? '' : ` (${reason})`}`
  }
  const accepted: string[][] = []
  const lost: string[] = []
  for (let step = 0; step < STEPS; step += 1) {
    for (const { call, end } of parseStepMarks(await readRecords(journal, jobId, stepPrefix(step))).calls) {
      if (end.type === 'rolled-back') continue
      if (end.type === 'over' && end.accepted.length > 0)
        accepted.push(end.accepted.map(groupId => names.get(groupId) ?? groupId))
      if (end.type === 'sending' || end.unknown.length + end.rejected.length > 0) lost.push(`step ${step} call ${call}`)
    }
  }
  const all = accepted.flat()
  const twice = all.filter((name, place) => all.indexOf(name) !== place)
  return { groups, accepted, twice, lost }
}

/** The weights, what went into each checkpoint on the way there, and files that nobody needs. */
function readPolicy(directory: string) {
  const index = indexSchema.parse(JSON.parse(readFileSync(join(directory, 'index.json'), 'utf8')))
  const [model] = index.models
  const head = model?.checkpoints.find(({ id }) => id === model.head)
  if (model === undefined || head?.blob == null) throw new Error('the training left no checkpoint')
  const weights = decodePolicy(head.blob, readFileSync(join(directory, head.blob))).weights
  const named = namedBlobs(index)
  return {
    digest: digestWeights(weights),
    checkpoints: model.checkpoints.map(({ step, tally, learningRate }) => ({ step, tally, learningRate })),
    accumulated: model.accumulated,
    unneeded: readdirSync(directory).filter(name => name !== 'index.json' && !named.has(name)),
  }
}
