import { TroupeError } from '../errors.ts'

export function runCancelled(kept: {
  readonly durable: number
  readonly pending: number
  readonly journal: string | undefined
}): TroupeError {
  const where =
    kept.journal === undefined
      ? 'no journal was given, so they end with this process'
      : `they are in ${kept.journal}, and the same command goes on from there`
  return new TroupeError({
    tag: 'run-cancelled',
    message: `the run was cancelled: ${kept.durable} finished rollouts are kept, ${kept.pending} are still to be done; ${where}`,
    details: kept,
  })
}

export function badTasks(runtime: string, problems: readonly string[]): TroupeError {
  return new TroupeError({
    tag: 'bad-tasks',
    message: `the environment (${runtime}) refuses ${problems.length === 1 ? 'a task' : `${problems.length} tasks`}:\n  ${problems.join('\n  ')}`,
    details: { problems },
  })
}

/** What rows ask for that this run cannot give them. */
export function impossibleTasks(problems: readonly string[]): TroupeError {
  return new TroupeError({
    tag: 'bad-tasks',
    message: `${problems.length === 1 ? 'a task asks' : 'tasks ask'} for what this run cannot do; nothing was started:\n  ${problems.join('\n  ')}`,
    details: { problems },
  })
}

export function noRuntime(name: string): TroupeError {
  return new TroupeError({
    tag: 'no-runtime',
    message: `nothing says where the tasks of "${name}" run; give a runtime, for instance { runtime: new LocalRuntime('environments/calc/env.ts') }`,
  })
}

export function sandboxesLeft(ids: readonly string[]): TroupeError {
  return new TroupeError({
    tag: 'sandboxes-left',
    message: `${ids.length} sandboxes could not be deleted and may still cost money: ${ids.join(', ')}`,
    details: { ids },
  })
}

export function clusterSettingsDiffer(): TroupeError {
  return new TroupeError({
    tag: 'cluster-settings-differ',
    message:
      'a job on several machines has one engine, and this run asks for another: a runtime, limits, deadlines or a pool that earlier runs of the job did not have. Give it the same, or start a job of its own for it.',
  })
}

export function stepRunning(job: string, step: number, round: number, slugs: readonly string[]): TroupeError {
  const some = slugs.slice(0, 3).join(', ')
  return new TroupeError({
    tag: 'step-running',
    message: `step ${step}, round ${round} of the job "${job}" is being run, with ${slugs.length} of the same tasks (${some}${slugs.length > 3 ? ', …' : ''}); wait until that run has ended, or give this one another step or round`,
    details: { step, round, tasks: slugs.length },
  })
}

export function jobClosed(name: string): TroupeError {
  return new TroupeError({ tag: 'job-closed', message: `the job "${name}" is closed; start a new one to run more` })
}
