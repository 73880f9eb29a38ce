/**
 * A trainer of one's own behind HTTP, in one file: `npm run build && node dist/examples/http-trainer.js`, or from the command line
 * `troupe train environments/arith --trainer examples/http-trainer.ts --learning-rate 0.03 --steps 5 --no-eval`. With TRAINER_URL it talks to a service
 * that runs elsewhere, and otherwise starts `softmax-service.ts`.
 */
import { fileURLToPath } from 'node:url'
import { createAgent, defineTrainer, Job, LocalRuntime, Taskset, type Trainer, toSamples, train } from 'troupe'
import { z } from 'troupe/environment'
import { startSoftmaxService } from './softmax-service.ts'

const policySchema = z.object({ version: z.string().nullable(), step: z.int(), calls: z.int() })
const lossSchema = z.object({ loss: z.number() })

/** One request and one answer, never made again: after an error nobody knows whether it counted, and its groups are left out. */
async function call<Answer>(url: string, schema: z.ZodType<Answer>, body?: object): Promise<Answer> {
  const how = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
  const response = await fetch(url, { ...how, signal: AbortSignal.timeout(60_000) })
  if (!response.ok) throw new Error(`${url} was answered ${response.status}`)
  return schema.parse(await response.json())
}

export function makeHttpTrainer(url: string, close: () => Promise<void> = async () => {}): Trainer {
  const ask = () => call(`${url}/policy`, policySchema)
  return {
    model: 'softmax',
    // Whole groups: `toSamples` checks that, and takes the advantages within them.
    async forwardBackward(runs, options = {}) {
      const samples = toSamples(runs, options).map(({ tokens, advantage }) => ({
        tokens: [...tokens.output],
        advantage,
      }))
      const { loss } = await call(`${url}/samples`, lossSchema, { samples })
      return { metrics: { 'loss:sum': loss }, numDatums: samples.length }
    },
    async optimStep({ learningRate }) {
      const { version, step } = await call(`${url}/step`, policySchema, { learning_rate: learningRate })
      return { policyVersion: String(version), step }
    },
    // Asked when the answer to a step was lost, and when a later process goes on.
    policyVersion: async () => (await ask()).version,
    state: () => ask().then(({ step, calls }) => ({ step, calls })),
    close,
  }
}

/** The trainer, and the agent that acts with its policy. */
export async function openHttpTrainer(at?: string) {
  const { url, close } = at === undefined ? await startSoftmaxService() : { url: at, close: async () => {} }
  const agent = createAgent(fileURLToPath(new URL(`softmax-service${import.meta.url.slice(-3)}`, import.meta.url)), {
    url,
  })
  return { trainer: makeHttpTrainer(url, close), agent }
}

export default defineTrainer(() => openHttpTrainer(process.env.TRAINER_URL))

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { trainer, agent } = await openHttpTrainer(process.env.TRAINER_URL)
  await using job = await Job.start('http-trainer', {
    runtime: new LocalRuntime('environments/arith/env.ts'),
    threads: 1,
    seed: 1,
  })
  const taskset = await Taskset.load('environments/arith/tasks.ts')
  for await (const event of train({ job, taskset, agent, trainer, steps: 5, group: 8, learningRate: 0.03 }))
    if (event.type === 'step-ended')
      console.log(`step ${event.record.step}: ${event.record.solved} of ${event.record.runs} solved`)
  await trainer.close?.()
}
