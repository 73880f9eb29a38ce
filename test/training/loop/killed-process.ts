/**
 * A training on the real engine against a service that is a file: `<directory> <kill>`, where `kill` is `<name> <n>`: the process is
 * gone at once after the n-th such thing, or `none`. Prints what came of it as one line of JSON.
 */
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createAgent } from '../../../src/agents/create-agent.ts'
import { Job } from '../../../src/job/job.ts'
import { LocalRuntime } from '../../../src/runtimes/local.ts'
import { Taskset } from '../../../src/taskset/taskset.ts'
import { toJobSettings, train } from '../../../src/training/loop/index.ts'
import { repository } from '../../end-to-end/scene.ts'
import { FakeService } from './fake-service.ts'

const [directory = '.', kill = 'none'] = process.argv.slice(2)
const counts = new Map<string, number>()

function happened(name: string): void {
  const count = (counts.get(name) ?? 0) + 1
  counts.set(name, count)
  if (`${name} ${count}` === kill) process.kill(process.pid, 'SIGKILL')
}

const file = join(directory, 'service.json')
const service = new FakeService()
if (existsSync(file)) Object.assign(service, JSON.parse(readFileSync(file, 'utf8')))
service.around = async (name, when) => {
  const { accumulated, applied, calls, checkpoints } = service
  if (when === 'after') writeFileSync(file, JSON.stringify({ accumulated, applied, calls, checkpoints }))
  happened(`${when} ${name}`)
}

const tokens = { prompt: Uint32Array.of(1), output: Uint32Array.of(2), logprobs: Float32Array.of(-1) }
const agent = createAgent({
  name: 'half-right',
  async run({ prompt, record, seed }) {
    appendFileSync(join(directory, 'starts'), `${seed}\n`)
    happened('start')
    record({ role: 'assistant', text: '', atMs: 0, tookMs: 0, tokens })
    const [a = 0, b = 0] = (String(prompt).match(/-?\d+/g) ?? []).map(Number)
    return { answer: String(a + b + (seed % 2)), stop: 'done' }
  },
})

const all = await Taskset.load(join(repository, 'environments/arith/tasks.ts'))
const taskset = all.select(['0-3'])
const shape = {
  steps: 2,
  group: 4,
  chunk: { trajectories: 4 },
  learningRate: 0.1,
  evaluation: { splits: { held: all.select(['4']) } },
}
const job = await Job.start('killed', {
  journal: join(directory, 'journal'),
  settings: toJobSettings({ ...shape, model: 'fake', taskset, agent }),
  resume: true,
  seed: 3,
  runtime: new LocalRuntime(join(repository, 'environments/arith/env.ts')),
  threads: 0,
})
const training = train({ ...shape, job, taskset, agent, trainer: service.client(), settleMs: 10 })
const history = await training.finish()
await job.close()
process.stdout.write(`${JSON.stringify({ resumed: job.resumed, history, applied: service.applied })}\n`)
