import type { Task } from '../taskset/task.ts'
import type { Taskset } from '../taskset/taskset.ts'
import { nothingToTrainOn, tasksOverlap } from './errors.ts'

/** Which tasks are trained on, and which are only measured. */
export interface Splits {
  readonly train: Taskset
  readonly heldOut: Taskset | undefined
  readonly unseen: Taskset | undefined
}

export interface SplitSelectors {
  readonly taskIds?: readonly string[]
  readonly heldOut?: readonly string[]
  readonly unseen?: readonly string[]
  readonly quick?: true
}

/**
 * What selectors name or, where they are absent, what the tasks' own `split` column says: `train`, `held-out` and `unseen`. Tasks
 * without that column are all trained on; with `quick` unseen ones are measured only where they are named. Throws `unknown-task`, `nothing-to-train-on`, `tasks-overlap`.
 */
export function chooseSplits(taskset: Taskset, selectors: SplitSelectors): Splits {
  const train = chooseTrainTasks(taskset, selectors.taskIds)
  const heldOut = selectors.heldOut === undefined ? bySplit(taskset, 'held-out') : taskset.select(selectors.heldOut)
  const ownUnseen = () => (selectors.quick === true ? undefined : bySplit(taskset, 'unseen'))
  const unseen = selectors.unseen === undefined ? ownUnseen() : taskset.select(selectors.unseen)
  for (const [name, other] of [
    ['--held-out', heldOut],
    ['--unseen', unseen],
  ] as const)
    refuseOverlap(name, train, other)
  return { train, heldOut, unseen }
}

/** The tasks to train on alone: those that `--task-ids` names, else the train split, else all. */
export function chooseTrainTasks(taskset: Taskset, taskIds: readonly string[] | undefined): Taskset {
  return taskIds === undefined ? ownTrainSplit(taskset) : taskset.select(taskIds)
}

function ownTrainSplit(taskset: Taskset): Taskset {
  const splits = new Set(taskset.tasks.map(splitOf))
  if (splits.size === 1 && splits.has(undefined)) return taskset
  const train = bySplit(taskset, 'train')
  if (train === undefined)
    throw nothingToTrainOn(
      taskset.name,
      [...splits].map(split => split ?? 'none'),
    )
  return train
}

function bySplit(taskset: Taskset, split: string): Taskset | undefined {
  const slugs = taskset.tasks.filter(task => splitOf(task) === split).map(task => task.slug)
  return slugs.length === 0 ? undefined : taskset.select(slugs)
}

function splitOf(task: Task): string | undefined {
  const split = task.columns?.split
  return typeof split === 'string' ? split : undefined
}

function refuseOverlap(option: string, train: Taskset, other: Taskset | undefined): void {
  const trained = new Set(train.tasks.map(task => task.slug))
  const both = (other?.tasks ?? []).map(task => task.slug).filter(slug => trained.has(slug))
  if (both.length > 0) throw tasksOverlap(option, both)
}
