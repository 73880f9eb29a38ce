/**
 * A script as one writes it in a notebook, cell by cell, each building on the values of the last: `npm run build && node dist/examples/notebook.js`. In
 * Jupyter, with a kernel for TypeScript, the cells are the same.
 */
import { createAgent, Job, LocalRuntime, Taskset } from 'troupe'

// %% What there is to do
const taskset = await Taskset.load('environments/arith/tasks.ts')
console.log(taskset.tasks.length, 'tasks, the first:', taskset.tasks[0]?.slug)

// %% One job for the whole session: its engine and sandboxes stay warm between cells
const job = await Job.start('notebook', { runtime: new LocalRuntime('environments/arith/env.ts'), threads: 0, seed: 1 })

// %% An agent at hand, to be changed and run again
const guesser = createAgent({
  name: 'guesser',
  async run({ prompt, seed, record }) {
    const numbers = (String(prompt).match(/\d+/g) ?? []).map(Number)
    const answer = (numbers[0] ?? 0) + (numbers[1] ?? 0) + (seed % 2)
    record({ role: 'assistant', text: `It is ${answer}.`, atMs: 0, tookMs: 0 })
    return { answer: String(answer), stop: 'done' }
  },
})

// %% Eight attempts at each of four tasks
await taskset.select(['0-3']).run(guesser, { job, group: 8 })
console.table(
  job.groups.map(({ task, runs }) => ({
    task: task.slug,
    solved: runs.filter(run => run.reward === 1).length,
    attempts: runs.length,
  })),
)

// %% What did one that failed say?
const failed = job.runs.find(run => run.reward === 0)
console.log(failed?.trajectory.prompt, '→', failed?.trajectory.turns[0]?.text)

// %% The last cell
await job.close()
console.log(`${job.runs.filter(run => run.outcome === 'graded').length} of ${job.runs.length} runs graded`)
