import type { GroupId, JobId } from '../../ids.ts'
import { deriveSeed, makeRandom, shuffle } from '../../random.ts'
import { groupIdOf, planGroups } from '../../taskset/plan-groups.ts'
import type { Task } from '../../taskset/task.ts'

/** Steps of a job from here on are evaluations; below it they are training steps under their own numbers. */
const FIRST_EVALUATION_STEP = 1_000_000

/** Whether groups of this step measured a policy, and were not trained on. */
export function isEvaluationStep(step: number): boolean {
  return step >= FIRST_EVALUATION_STEP
}

/** A group that may take the place of one without spread. */
export interface Replacement {
  readonly task: Task
  readonly round: number
  readonly groupId: GroupId
}

/** Which groups a step consists of: the same for the same job, whatever happens in it. */
export interface StepPlan {
  readonly tasks: readonly Task[]
  /** The groups of `tasks`, in the order they are planned in. */
  readonly planned: readonly GroupId[]
  /** In the order they are taken. */
  readonly replacements: readonly Replacement[]
}

export function planStep(
  { jobId, seed }: { readonly jobId: JobId; readonly seed: number },
  tasks: readonly Task[],
  shape: { readonly group: number; readonly tasksPerStep: number; readonly maxExtraGroups: number },
  step: number,
): StepPlan {
  const drawn = drawTasks(tasks, shape.tasksPerStep, seed, step)
  const plans = planGroups({ jobId, tasks: drawn, group: shape.group, seed, step })
  const order = orderReplacements(tasks, drawn, seed, step)
  const replacements = Array.from({ length: shape.maxExtraGroups }, (_, place): Replacement[] => {
    const task = order[place % order.length]
    const round = 1 + Math.floor(place / order.length)
    return task === undefined ? [] : [{ task, round, groupId: groupIdOf(jobId, step, task.slug, round) }]
  })
  return { tasks: drawn, planned: plans.map(({ groupId }) => groupId), replacements: replacements.flat() }
}

/** Of the tasks shuffled anew each time all have come, the next `count`; what does not fill a step is left out of that turn. */
export function drawTasks(tasks: readonly Task[], count: number, seed: number, step: number): readonly Task[] {
  if (count >= tasks.length) return tasks
  const stepsPerTurn = Math.floor(tasks.length / count)
  const turn = Math.floor(step / stepsPerTurn)
  const from = (step % stepsPerTurn) * count
  return shuffle(tasks, makeRandom(deriveSeed(seed, 'tasks', turn))).slice(from, from + count)
}

/** Tasks that the step does not have come before another go at those it has. */
function orderReplacements(tasks: readonly Task[], drawn: readonly Task[], seed: number, step: number) {
  const has = new Set(drawn)
  const shuffled = shuffle(tasks, makeRandom(deriveSeed(seed, 'replacements', step)))
  return [...shuffled.filter(task => !has.has(task)), ...shuffled.filter(task => has.has(task))]
}

export function isEvaluationDue(
  {
    first,
    last,
    every,
    steps,
  }: { readonly first: boolean; readonly last: boolean; readonly every: number; readonly steps: number },
  afterSteps: number,
): boolean {
  if (afterSteps === 0) return first
  if (afterSteps === steps) return last
  return every > 0 && afterSteps % every === 0
}

/** An evaluation is a step of its job of its own, whose number depends on nothing that happened. */
export function evaluationStep(afterSteps: number, split: number, splits: number): number {
  return FIRST_EVALUATION_STEP + afterSteps * splits + split
}
