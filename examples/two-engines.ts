/**
 * Two engines in one process, each with its own runtime, width and seed; one is stopped half-way, and the other does not notice:
 * `npm run build && node dist/examples/two-engines.js`. What both say is told apart by the job.
 */
import { subscribe } from 'node:diagnostics_channel'
import { createAgent, hasTag, Job, LocalRuntime, type RunHeader, Taskset } from 'troupe'

const taskset = await Taskset.load('environments/arith/tasks.ts')
const agent = createAgent('environments/arith/adder.ts')
const seen = new Map<string, number>()
subscribe('troupe:run', message => {
  const { jobId } = message as RunHeader
  seen.set(jobId, (seen.get(jobId) ?? 0) + 1)
})

const start = (name: string, maxConcurrent: number, seed: number) =>
  Job.start(name, { runtime: new LocalRuntime('environments/arith/env.ts'), threads: 1, maxConcurrent, seed })
await using whole = await start('whole', 16, 1)
await using stopped = await start('stopped', 4, 2)

async function stopAfterTwoGroups(): Promise<void> {
  const leaving = new AbortController()
  let groups = 0
  try {
    for await (const _ of taskset.stream(agent, { job: stopped, group: 4, signal: leaving.signal }))
      if (++groups === 2) leaving.abort()
  } catch (error) {
    if (!hasTag(error, 'run-cancelled')) throw error
  }
}

await Promise.all([taskset.run(agent, { job: whole, group: 4 }), stopAfterTwoGroups()])
const { graded, plannedRuns } = whole.snapshot()
console.log(`whole: ${graded} of ${plannedRuns} runs graded, ${seen.get(whole.jobId)} seen on the channel`)
console.log(`stopped: ${stopped.snapshot().finishedRuns < plannedRuns ? 'early' : 'at its end'}`)
