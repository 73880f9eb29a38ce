import { readBoth } from '../../clock.ts'
import type { Taskset } from '../../taskset/taskset.ts'
import type { TrainingEvent } from './events.ts'
import { makeFigures } from './figures.ts'
import { inspectGroup } from './inspect-group.ts'
import type { Loop } from './loop.ts'
import { evaluationKey } from './marks.ts'
import { evaluationStep } from './schedule.ts'

/** Measures one split with the weights that are served now, as a step of the job of its own. Durable when it resolves. */
export async function runEvaluation(
  { settings, signal }: Loop,
  afterSteps: number,
  split: string,
  taskset: Taskset,
): Promise<Extract<TrainingEvent, { type: 'evaluated' }>> {
  const { agent, clock, evaluation, job, run } = settings
  const names = Object.keys(evaluation.splits)
  const step = evaluationStep(afterSteps, names.indexOf(split), names.length)
  const { now: begun, wallTime: startedAt } = readBoth(clock)
  const figures = makeFigures()
  const groups = job.stream(taskset, agent, {
    ...run,
    group: evaluation.group,
    step,
    signal,
  })
  for await (const group of groups) figures.add(inspectGroup(group, evaluation.group, 'drop'))
  const { runs, solved, passRate, errored, versions } = figures.totals
  const wallMs = clock.now() - begun
  const record = { afterSteps, split, runs, solved, passRate, errored, wallMs, versions }
  await job.records.put(evaluationKey(afterSteps, split), record)
  return { type: 'evaluated', record, step, startedAt }
}
