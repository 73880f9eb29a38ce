import { type ErrorData, fromErrorData } from '../../errors.ts'
import type { StepRecord } from '../records.ts'
import { nothingTrained } from './errors.ts'
import { makeForecast } from './forecast.ts'
import type { Kept } from './history.ts'
import type { Loop } from './loop.ts'
import { runEvaluation } from './run-evaluation.ts'
import { type RunningStep, runStep } from './run-step.ts'
import { isEvaluationDue } from './schedule.ts'

/** Steps in a row that may end without training, other than because all groups agreed, before the training says so and stops. */
const IDLE_STEPS = 2

/**
 * The steps that are left, one after the other; with a policy lag the next one's rollouts begin while those before are still being
 * trained on. The first failure ends what else is under way, and is what this rejects with.
 */
export async function runSteps(outer: Loop, kept: Kept): Promise<void> {
  const failed = new AbortController()
  const breaker = makeIdleBreaker()
  const loop: Loop = {
    ...outer,
    signal: AbortSignal.any([outer.signal, failed.signal]),
    emit(event) {
      if (event.type === 'chunk-trained' && event.error !== null) breaker.note(event.error)
      return outer.emit(event)
    },
  }
  const open = new Set<Promise<unknown>>()
  try {
    await runInOrder(loop, kept, breaker, open, error => failed.abort(error))
  } catch (error) {
    failed.abort(error)
    await Promise.allSettled(open)
    // What came first is the cause; the rest was cancelled for it. Where the outer signal was first, its reason is in `error`.
    throw outer.signal.aborted ? error : failed.signal.reason
  }
}

async function runInOrder(
  loop: Loop,
  kept: Kept,
  breaker: IdleBreaker,
  open: Set<Promise<unknown>>,
  fail: (error: unknown) => void,
): Promise<void> {
  const { group, maxPolicyLag, steps, tasksPerStep } = loop.settings
  const forecast = makeForecast(loop)
  const done = new Set(kept.steps.map(({ step }) => step))
  const overs = new Map<number, Promise<unknown>>()
  let before: RunningStep | undefined
  let turn: Promise<number | null> = Promise.resolve(countOptimSteps(kept))
  for (let step = 0; step < steps; step += 1) {
    await evaluate(loop, kept, step, turn)
    if (done.has(step)) continue
    await before?.rolloutsOver
    await overs.get(step - 1 - maxPolicyLag)
    loop.signal.throwIfAborted()
    forecast.begins()
    before = runStep(loop, step, turn)
    const runsToCome = step + 1 < steps && !done.has(step + 1) ? group * tasksPerStep : 0
    before.rolloutsOver.then(
      () => forecast.over(runsToCome),
      () => {}, // told by the step itself
    )
    turn = endStep(loop, before, turn, breaker)
    overs.set(step, turn)
    const over = turn
    open.add(over)
    over.catch(fail).finally(() => open.delete(over))
  }
  await turn
  await evaluate(loop, kept, steps, turn)
}

/** What follows from a step's record; resolves with the model's count of optimiser steps. */
async function endStep(
  loop: Loop,
  { over }: RunningStep,
  before: Promise<number | null>,
  breaker: IdleBreaker,
): Promise<number | null> {
  const { record, optimCall } = await over
  if (record.end.type === 'trained') loop.policy.stepped(record.end.checkpointId)
  await loop.emit({ type: 'step-ended', record, ...(optimCall === undefined ? {} : { optimCall }) })
  breaker.stepOver(record)
  return record.optimStep ?? (await before)
}

/** With the weights after `afterSteps` steps, so it waits for those; not when later steps have changed them already. */
async function evaluate(loop: Loop, kept: Kept, afterSteps: number, turn: Promise<unknown>): Promise<void> {
  const { evaluation, steps } = loop.settings
  if (!isEvaluationDue({ ...evaluation, steps }, afterSteps)) return
  if (kept.steps.some(({ step }) => step >= afterSteps)) return
  for (const [split, taskset] of Object.entries(evaluation.splits)) {
    if (kept.evaluations.some(each => each.afterSteps === afterSteps && each.split === split)) continue
    await turn
    loop.signal.throwIfAborted()
    await loop.emit(await runEvaluation(loop, afterSteps, split, taskset))
  }
}

function countOptimSteps({ base, steps }: Kept): number | null {
  return steps.findLast(({ optimStep }) => optimStep !== null)?.optimStep ?? base.optimSteps
}

interface IdleBreaker {
  /** The newest error of a training call: it may be why nothing is trained. */
  note(error: ErrorData): void
  /** Throws `nothing-trained`. */
  stepOver(record: StepRecord): void
}

/** A training that can learn nothing says so and stops. Groups that all agree are no fault of it. */
function makeIdleBreaker(): IdleBreaker {
  let inARow = 0
  let last: ErrorData | undefined
  return {
    note(error) {
      last = error
    },
    stepOver({ end }) {
      inARow = end.type === 'skipped' && end.reason !== 'no-spread' ? inARow + 1 : 0
      if (inARow < IDLE_STEPS || end.type !== 'skipped') return
      throw nothingTrained(inARow, end.reason, last === undefined ? undefined : fromErrorData(last))
    },
  }
}
