import { join } from 'node:path'
import { Taskset } from '../../src/taskset/taskset.ts'
import type { TrainShape } from '../../src/training/loop/index.ts'
import { repository } from '../support/source-imports.ts'

/** The training that is killed: small, so that hundreds of its lives take minutes, with every part that a long one has. */
export const SEED = 5
export const STEPS = 2
export const GROUP = 4
export const EVALUATION_GROUP = 2
export const SPLIT = 'held-out'

export const arith = (name: string) => join(repository, 'environments/arith', name)

export interface Tasks {
  readonly train: Taskset
  readonly heldOut: Taskset
}

export async function loadTasks(): Promise<Tasks> {
  const all = await Taskset.load(arith('tasks.ts'))
  return { train: all.select(['0-5']), heldOut: all.select(['12-13']) }
}

/** Two groups a call, so that a call has groups to lose. */
export const shapeWith = ({ heldOut }: Tasks) =>
  ({
    steps: STEPS,
    group: GROUP,
    chunk: { trajectories: 2 * GROUP },
    learningRate: 2e-3,
    evaluation: { splits: { [SPLIT]: heldOut }, group: EVALUATION_GROUP },
  }) satisfies TrainShape
