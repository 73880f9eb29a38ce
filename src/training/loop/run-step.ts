import { concatMap, type Observable, tap, toArray } from 'rxjs'
import type { GroupId } from '../../ids.ts'
import type { Chunk } from '../../stream/chunk.ts'
import { processChunks } from '../../stream/process-chunks.ts'
import type { Task } from '../../taskset/task.ts'
import type { StepRecord } from '../records.ts'
import { NO_SPREAD, type StepClosed } from './close-step.ts'
import { type Coverage, makeCoverage } from './coverage.ts'
import { groupsLost, noTokens } from './errors.ts'
import type { OptimCall } from './events.ts'
import { type Figures, makeFigures } from './figures.ts'
import { type InspectedGroup, inspectGroup } from './inspect-group.ts'
import type { Loop } from './loop.ts'
import { recordKey } from './marks.ts'
import { packStep } from './pack-step.ts'
import { planStep, type StepPlan } from './schedule.ts'
import { stepGroups } from './step-groups.ts'
import { type Dropped, makeChunkTrainer } from './train-chunks.ts'

/** A step under way. Both promises reject when it fails or is stopped. */
export interface RunningStep {
  readonly rolloutsOver: Promise<void>
  /** Its record, durable, and its optimiser step where there was one. */
  readonly over: Promise<{ readonly record: StepRecord; readonly optimCall: OptimCall | undefined }>
}

/**
 * One step: rollouts, chunks, one optimiser step. Rollouts begin at once; nothing is trained before `turn`, which resolves with the
 * model's count of optimiser steps when the step before is over.
 */
export function runStep(loop: Loop, step: number, turn: Promise<number | null>): RunningStep {
  const { clock, job, taskset, group } = loop.settings
  const begun = clock.now()
  const startedAt = clock.wallTime()
  const plan = planStep(job, taskset.tasks, loop.settings, step)
  const figures = makeFigures()
  const coverage = makeCoverage()
  const inspected = new Map<GroupId, InspectedGroup>()
  const dropped: Dropped = new Map()
  const rollouts = settleable()
  let opening: Promise<void> | undefined

  function opened(): Promise<void> {
    opening ??= turn.then(optimSteps => open(loop, step, optimSteps))
    return opening
  }

  const groups = streamGroups(loop, step, plan).pipe(
    tap({ complete: rollouts.resolve, error: rollouts.reject }),
    tap(each => take(loop, each, { figures, coverage, inspected, dropped })),
  )

  async function run(): RunningStep['over'] {
    await loop.emit({ type: 'step-began', step, groups: plan.tasks.length, runs: plan.tasks.length * group })
    const trainChunk = makeChunkTrainer(loop, { step, opened, inspected, dropped, beganAt: loop.policy.count })
    await trainAll(loop, groups, plan, trainChunk)
    const { totals } = figures
    if (totals.samples === 0 && totals.errored < totals.runs) throw noTokens(step)
    coverage.check(step, loop.settings.minGradedShare)
    await opened()
    // Whoever has the job takes this step itself.
    job.lost?.throwIfAborted()
    const closed = await loop.trainer.closeStep({
      step,
      groups: [...inspected.keys()],
      dropped: [...dropped].map(([groupId, reason]) => ({ groupId, reason })),
      optim: { ...loop.settings.adam, learningRate: loop.settings.learningRate },
      fullRateGroups: loop.settings.fullRateGroups,
    })
    if (closed.adopted && closed.end.type === 'trained')
      await loop.emit({ type: 'adopted', step, checkpointId: closed.end.checkpointId })
    const record = toRecord(step, figures, closed, {
      planned: plan.planned.length,
      all: inspected.size,
      dropped,
      wallMs: clock.now() - begun,
      startedAt,
    })
    await job.records.put(recordKey(step), record)
    return { record, optimCall: closed.optimCall }
  }

  const over = run()
  over.catch(rollouts.reject)
  return { rolloutsOver: rollouts.promise, over }
}

function streamGroups({ settings, signal }: Loop, step: number, plan: StepPlan): Observable<InspectedGroup> {
  const { agent, group, job, run, shortGroups, taskset } = settings
  const stream = (tasks: readonly Task[], round: number) => {
    const slugs = tasks.map(({ slug }) => slug)
    return job.stream(taskset.select(slugs), agent, { ...run, group, step, round, signal })
  }
  return stepGroups({
    first: () => stream(plan.tasks, 0),
    replacements: plan.replacements,
    replace: ({ task, round }) => stream([task], round),
    inspect: each => inspectGroup(each, group, shortGroups),
  })
}

interface Books {
  readonly figures: Figures
  readonly coverage: Coverage
  readonly inspected: Map<GroupId, InspectedGroup>
  readonly dropped: Dropped
}

/** Enters a group. Its runs are kept until it is trained on; of the rest only figures stay. */
function take(loop: Loop, found: InspectedGroup, { figures, coverage, inspected, dropped }: Books): void {
  figures.add(found)
  coverage.add(found.group)
  const { groupId, verdict } = found
  if (verdict.type === 'drop') dropped.set(groupId, verdict.reason)
  else loop.waitingRuns.set(groupId, found.trainable)
  inspected.set(groupId, { ...found, group: { ...found.group, runs: [] }, trainable: [] })
}

async function trainAll(
  { settings }: Loop,
  groups: Observable<InspectedGroup>,
  { planned, replacements }: StepPlan,
  trainChunk: (chunk: Chunk) => Promise<void>,
): Promise<void> {
  const order = settings.order === 'planned' ? [...planned, ...replacements.map(({ groupId }) => groupId)] : undefined
  const chunks = groups.pipe(packStep({ ...settings.chunk, planned: order }))
  const ready = settings.overlap
    ? chunks
    : chunks.pipe(
        toArray(),
        concatMap(all => all),
      )
  await new Promise<void>((resolve, reject) => {
    ready.pipe(processChunks(trainChunk)).subscribe({ error: reject, complete: resolve })
  })
}

async function open(loop: Loop, step: number, optimSteps: number | null): Promise<void> {
  const { adopted, rolledBack } = await loop.trainer.openStep({ step, optimSteps })
  if (adopted !== null) await loop.emit({ type: 'adopted', step, checkpointId: adopted })
  for (const each of rolledBack) await loop.emit({ type: 'rolled-back', step, ...each })
}

function toRecord(
  step: number,
  figures: Figures,
  closed: StepClosed,
  rest: {
    readonly planned: number
    readonly all: number
    readonly dropped: Dropped
    readonly wallMs: number
    readonly startedAt: number
  },
): StepRecord {
  const counts = new Map<string, number>()
  for (const reason of [...rest.dropped.values(), ...closed.dropped.map(each => each.reason)])
    counts.set(reason, (counts.get(reason) ?? 0) + 1)
  const withoutSpread = counts.get(NO_SPREAD) ?? 0
  counts.delete(NO_SPREAD)
  const droppedCount = [...counts.values()].reduce((sum, count) => sum + count, 0)
  const trained = closed.consumed.length
  if (trained + withoutSpread + droppedCount !== rest.all)
    throw groupsLost(step, { all: rest.all, trained, withoutSpread, dropped: droppedCount })
  return {
    step,
    ...figures.totals,
    loss: closed.loss,
    datums: closed.datums,
    chunks: closed.chunks,
    trainMs: closed.trainMs,
    optimStep: closed.optimStep,
    end: closed.end,
    groups: {
      planned: rest.planned,
      trained,
      withoutSpread,
      added: rest.all - rest.planned,
      dropped: Object.fromEntries([...counts].sort(([a], [b]) => (a < b ? -1 : 1))),
    },
    learningRate: closed.learningRate,
    wallMs: rest.wallMs,
    startedAt: rest.startedAt,
  }
}

/** A promise that others settle. Nobody need wait for it. */
function settleable() {
  let resolve = () => {}
  let reject = (_error: unknown) => {}
  const promise = new Promise<void>((yes, no) => {
    resolve = yes
    reject = no
  })
  promise.catch(() => {})
  return { promise, resolve: () => resolve(), reject: (error: unknown) => reject(error) }
}
