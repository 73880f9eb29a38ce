import type { AgentSpec } from '../agents/agent.ts'
import { checkAgent } from '../agents/create-agent.ts'
import { Job } from '../job/job.ts'
import type { RunOptions } from '../job/options.ts'
import { LocalRuntime } from '../runtimes/local.ts'
import { type GroupStream, makeGroupStream } from '../stream/group-stream.ts'
import type { Taskset } from '../taskset/taskset.ts'
import { toEngineSettings } from './settings.ts'

type Options = RunOptions & { readonly job?: Job }

/** What `Taskset.stream` does. Without a job, one is made for this run and closed when the stream ends. */
export function streamTaskset(taskset: Taskset, agent: AgentSpec, { job, ...given }: Options): GroupStream {
  const options = withRuntime(taskset, given, job)
  if (job !== undefined) return job.stream(taskset, agent, options)
  if (options.runtime !== undefined)
    checkAgent(agent, toEngineSettings({ ...options, runtime: options.runtime }).threads)
  const leaving = new AbortController()
  const source = makeGroupStream({ onCancel: () => leaving.abort() })
  void (async () => {
    // Nobody can ask this job for its groups.
    await using own = await Job.start(taskset.name, { ...options, keepGroups: false })
    const inner = own.stream(taskset, agent, { ...options, signal: anyOf(options.signal, leaving.signal) })
    // A subscriber, not an iterator: what is pushed on is taken when the outer consumer's own queue has it.
    await new Promise<void>((resolve, reject) => {
      inner.subscribe({ next: group => source.push(group), error: reject, complete: resolve })
    })
  })().then(
    () => source.complete(),
    error => source.error(error),
  )
  return source.stream
}

/** What `Taskset.run` does. The engine of a job made for this run ends with it; what the job holds can still be read. */
export async function runTaskset(taskset: Taskset, agent: AgentSpec, { job, ...given }: Options): Promise<Job> {
  const options = withRuntime(taskset, given, job)
  const session = job ?? (await Job.start(taskset.name, options))
  try {
    // Groups stay in the job; the stream is only drained.
    for await (const _ of session.stream(taskset, agent, options));
    return session
  } finally {
    if (job === undefined) await session.stopEngines()
  }
}

/** The environment beside the tasks file, served here, unless a runtime says otherwise: the run's, or its job's. */
function withRuntime(taskset: Taskset, options: RunOptions, job: Job | undefined): RunOptions {
  if (options.runtime !== undefined || job?.runtime !== undefined || taskset.environment === undefined) return options
  return { ...options, runtime: new LocalRuntime(taskset.environment) }
}

function anyOf(first: AbortSignal | undefined, second: AbortSignal): AbortSignal {
  return first === undefined ? second : AbortSignal.any([first, second])
}
