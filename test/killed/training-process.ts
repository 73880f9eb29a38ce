/**
 * A training with the embedded policy that tells each of its steps: `<directory> [mark occurrence]`. At the n-th such mark it kills
 * itself; without one it goes on to its end, and says whether it began there or was resumed.
 */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createAgent } from '../../src/agents/create-agent.ts'
import { Job } from '../../src/job/job.ts'
import type { JobRecords } from '../../src/job/records.ts'
import { startPolicy } from '../../src/policy/index.ts'
import { LocalRuntime } from '../../src/runtimes/local.ts'
import { TrainingClient } from '../../src/training/client.ts'
import { type TrainingJob, toJobSettings, train } from '../../src/training/loop/index.ts'
import type { Trainer } from '../../src/training/trainer.ts'
import { describeRecord, makeTeller, type Place } from './marks.ts'
import type { Telling } from './telling-agent.ts'
import { arith, loadTasks, SEED, shapeWith } from './training.ts'

const [directory = '.', mark, occurrence] = process.argv.slice(2)
const last: Place | undefined = mark === undefined ? undefined : { mark, occurrence: Number(occurrence) }
const tell = makeTeller(last)

const tasks = await loadTasks()
const shape = shapeWith(tasks)
const settings = toJobSettings({
  ...shape,
  model: 'embedded',
  taskset: tasks.train,
  // Neither a port nor a directory is in it, so that the same command is the same training.
  agent: { kind: 'chat', config: { model: 'policy' } },
})
const job = await Job.start('killed', {
  journal: join(directory, '.troupe/journal'),
  settings,
  resume: true,
  seed: SEED,
  runtime: new LocalRuntime(arith('env.ts')),
  threads: 1,
})
tell('job opened')
const policy = await startPolicy({
  base: arith('policy.base'),
  name: job.jobId,
  directory: join(directory, '.troupe/policies', job.jobId),
})
tell('policy served')
const client = new TrainingClient(policy)
const agent = createAgent(fileURLToPath(new URL('./telling-agent.js', import.meta.url)), {
  model: policy.model,
  endpoint: { ...policy.endpoint },
  completionKwargs: { extra_body: { return_token_ids: true } },
  telling: { starts: join(directory, 'starts'), last: last ?? null } satisfies Telling,
})

const training = train({
  ...shape,
  job: tellingJob(),
  taskset: tasks.train,
  agent,
  trainer: tellingTrainer(client),
  settleMs: 50,
})
for await (const event of training) tell(event.type)
await client.close()
await policy.close()
await job.close()
process.stdout.write(job.resumed ? 'resumed\n' : 'begun\n')

function tellingJob(): TrainingJob {
  const { records } = job
  const telling: JobRecords = {
    async put(key, value) {
      const what = describeRecord(key, value)
      tell(`putting ${what}`)
      await records.put(key, value)
      tell(`put ${what}`)
    },
    list: prefix => records.list(prefix),
    async settle(groupId, to, reason) {
      await records.settle(groupId, to, reason)
      tell('settled')
    },
  }
  return {
    jobId: job.jobId,
    seed: job.seed,
    resumed: job.resumed,
    records: telling,
    stream: (...what) => job.stream(...what),
  }
}

function tellingTrainer(trainer: TrainingClient): Trainer {
  async function told<Value>(what: string, call: () => Promise<Value>): Promise<Value> {
    tell(`sending ${what}`)
    const value = await call()
    tell(`answered ${what}`)
    return value
  }
  return {
    model: trainer.model,
    forwardBackward: (runs, options) => told('forward-backward', () => trainer.forwardBackward(runs, options)),
    optimStep: options => told('optim-step', () => trainer.optimStep(options)),
    policyVersion: () => trainer.policyVersion(),
    checkpoints: () => trainer.checkpoints(),
    state: () => trainer.state(),
  }
}
