import { agentLimitMs, DEFAULT_DEADLINES } from '../rollout/deadlines.ts'
import type { Runtime } from '../runtimes/runtime.ts'
import type { Task } from '../taskset/task.ts'
import type { Deadlines } from './options.ts'

/**
 * Limits of rows that contradict each other, or that a deadline of the run would never let them reach, each with its task's slug. `chosen` are the deadlines
 * that somebody named: a limit on a sandbox's life is held against these alone, since the defaults are there for rows that say nothing.
 */
export function limitProblems(runtime: Runtime, tasks: readonly Task[], chosen: Partial<Deadlines>): readonly string[] {
  return tasks.flatMap(task => {
    const { verifier } = task
    const problems = [
      ...agentProblems(runtime, task, chosen),
      ...sandboxProblems(runtime, task, '', chosen),
      ...(verifier === undefined ? [] : sandboxProblems(runtime, verifier, 'verifier.', chosen)),
    ]
    return problems.map(problem => `${task.slug}: ${problem}`)
  })
}

function agentProblems(runtime: Runtime, task: Task, chosen: Partial<Deadlines>): readonly string[] {
  const own = agentLimitMs(task)
  const agentMs = own ?? chosen.agent
  const runMs = inMs(limitsOf(runtime, task).run_timeout_s)
  const name = own === undefined ? 'deadlines.agent' : 'agent_config.timeout_seconds'
  const rolloutMs = chosen.rollout ?? DEFAULT_DEADLINES.rollout
  return [
    ...(agentMs !== undefined && runMs !== undefined && agentMs >= runMs
      ? [mustBeLess(name, agentMs, 'runtime_config.limits.run_timeout_s', runMs)]
      : []),
    ...(own !== undefined && own >= rolloutMs ? [mustBeLess(name, own, 'deadlines.rollout', rolloutMs)] : []),
  ]
}

function sandboxProblems(runtime: Runtime, task: Task, at: string, chosen: Partial<Deadlines>): readonly string[] {
  const limits = limitsOf(runtime, task)
  const startMs = inMs(limits.startup_timeout_s)
  const runMs = inMs(limits.run_timeout_s)
  const provisioningMs = chosen.provisioning ?? DEFAULT_DEADLINES.provisioning
  const start = `${at}runtime_config.limits.startup_timeout_s`
  return [
    ...(startMs !== undefined && startMs >= provisioningMs
      ? [mustBeLess(start, startMs, 'deadlines.provisioning', provisioningMs)]
      : []),
    ...(startMs !== undefined && chosen.rollout !== undefined && startMs >= chosen.rollout
      ? [mustBeLess(start, startMs, 'deadlines.rollout', chosen.rollout)]
      : []),
    ...(runMs !== undefined && chosen.rollout !== undefined && runMs >= chosen.rollout
      ? [mustBeLess(`${at}runtime_config.limits.run_timeout_s`, runMs, 'deadlines.rollout', chosen.rollout)]
      : []),
  ]
}

function limitsOf(runtime: Runtime, task: Task) {
  return runtime.configure?.(task).config.limits ?? {}
}

const inMs = (seconds: number | undefined) => (seconds === undefined ? undefined : seconds * 1_000)

const mustBeLess = (name: string, ms: number, limit: string, limitMs: number) =>
  `${name} (${ms / 1_000} s) must be less than ${limit} (${limitMs / 1_000} s); lower the one or raise the other`
