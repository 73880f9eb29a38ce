import type { AgentSpec } from '../../agents/agent.ts'
import { FINAL_RECORDS } from '../../job/find-unfinished.ts'
import type { Taskset } from '../../taskset/taskset.ts'
import { evaluationKey, recordKey } from './marks.ts'
import type { TrainShape } from './options.ts'
import { isEvaluationDue } from './schedule.ts'

/**
 * The settings of a training's job: with them and `resume: true`, `Job.start` finds the one that the same command left unfinished.
 * How large a chunk may be is not among them, so that a limit that turns out too low can be changed on the way.
 */
export function toJobSettings(
  training: TrainShape & { readonly model: string; readonly taskset: Taskset; readonly agent: AgentSpec },
): Readonly<Record<string, unknown>> {
  const { model, taskset, agent, evaluation, chunk: _chunk, ...rest } = training
  const splits = Object.entries(evaluation?.splits ?? {})
  const evaluationSettings = {
    group: evaluation?.group ?? training.group,
    every: evaluation?.every ?? 0,
    first: evaluation?.first ?? true,
    last: evaluation?.last ?? true,
  }
  const finals = isEvaluationDue({ ...evaluationSettings, steps: training.steps }, training.steps)
    ? splits.map(([split]) => evaluationKey(training.steps, split))
    : []
  // Through JSON, as the journal gives it back: what is undefined is not there.
  return JSON.parse(
    JSON.stringify({
      shape: pickShape(rest),
      model,
      tasks: slugsOf(taskset),
      agent: agent.kind === 'closure' ? { kind: 'closure', name: agent.agent.name } : agent,
      evaluation: { ...evaluationSettings, splits: splits.map(([split, tasks]) => [split, slugsOf(tasks)]) },
      [FINAL_RECORDS]: [recordKey(training.steps - 1), ...finals],
    }),
  )
}

/** Only what makes the training: whoever passes more than a shape does not make another job of it. */
function pickShape(shape: Omit<TrainShape, 'evaluation' | 'chunk'>): Omit<TrainShape, 'evaluation' | 'chunk'> {
  const { steps, group, learningRate, adam, loss, substeps, rewardScale, scaleByGroups, order, overlap } = shape
  const { maxPolicyLag, dynamicSampling, shortGroups, tasksPerStep } = shape
  const given = { steps, group, learningRate, adam, loss, substeps, rewardScale, scaleByGroups, order, overlap }
  const more = { maxPolicyLag, dynamicSampling, shortGroups, tasksPerStep }
  return JSON.parse(JSON.stringify({ ...given, ...more }))
}

function slugsOf(taskset: Taskset): readonly string[] {
  return taskset.tasks.map(({ slug }) => slug)
}
