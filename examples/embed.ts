/** Troupe inside another program: `npm run build && node dist/examples/embed.js`. Takes a few seconds and leaves nothing behind. */
import { chunkGroups, createAgent, Job, LocalRuntime, Taskset } from 'troupe'

const taskset = await Taskset.load('environments/arith/tasks.ts')
const agent = createAgent('environments/arith/adder.ts')

// Everything that the job opens (threads, sandboxes, hosts) is closed at the end of this block, whatever happens in it.
await using job = await Job.start('embedded', {
  runtime: new LocalRuntime('environments/arith/env.ts'),
  maxConcurrent: 16,
})

// Group after group, as they end.
for await (const group of taskset.select(['0-3']).stream(agent, { job, group: 4, seed: 1 }))
  console.log(group.task.slug, group.runs.map(run => run.reward).join(' '))

// The next step of the same job, in chunks of whole groups, while other groups still run.
await new Promise<void>((resolve, reject) => {
  taskset
    .stream(agent, { job, group: 4, seed: 1 })
    .pipe(chunkGroups({ maxTrajectories: 16 }))
    .subscribe({
      next: chunk => console.log(`chunk ${chunk.index}: ${chunk.runs.length} runs of ${chunk.groups.length} groups`),
      error: reject,
      complete: resolve,
    })
})

const { graded, plannedRuns } = job.snapshot()
console.log(`${graded} of ${plannedRuns} runs graded`)
if (graded !== plannedRuns) process.exitCode = 1
