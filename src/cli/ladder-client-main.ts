/** The process of one cell of a ladder. */
import { createAgent } from '../agents/create-agent.ts'
import { openEngineClient } from '../ladder/client/engine-client.ts'
import { openPoolClient } from '../ladder/client/pool-client.ts'
import { serveClient } from '../ladder/client/serve-client.ts'
import { Taskset } from '../taskset/taskset.ts'
import { missingOption } from './errors.ts'
import type { LadderClientArgument } from './ladder-subject.ts'
import { makeRuntime } from './runtime-options.ts'

const { subject, cell }: LadderClientArgument = JSON.parse(process.argv[2] ?? '{}')

serveClient(async () => {
  const taskset = await Taskset.load(subject.tasks)
  const runtime = await makeRuntime(subject.runtime, subject.environment, { talk: () => {} })
  if (cell.work === 'infra') {
    const [task] = taskset.tasks
    if (task === undefined) throw missingOption('a task', `${subject.tasks} has none`)
    return openPoolClient(cell, runtime, task)
  }
  if (subject.agent === undefined) throw missingOption('the agent', 'rollouts need one to work on the tasks')
  return openEngineClient(cell, runtime, {
    taskset,
    agent: createAgent(subject.agent, subject.agentConfig),
    group: subject.group,
    seed: subject.seed,
    ...(subject.threads === undefined ? {} : { threads: subject.threads }),
  })
})
