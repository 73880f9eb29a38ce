/**
 * The published loop on the calc task, line by line: `npm run build && node dist/examples/calc-rl.js`. Ten steps of 16 variants × 8
 * attempts, rolled out and then trained on. It needs no key: the policy is embedded. `calc-rl-streaming.ts` trains while it rolls out.
 */
import { createAgent, Job, LocalRuntime, Taskset, TrainingClient } from 'troupe'
import { startPolicy } from 'troupe/policy'
import { fixCalc } from '../environments/calc/env.ts'

const [GROUP, WIDTH, CHUNK] = [8, 128, 16]
const STEPS = Number(process.argv[2] ?? 10)

// For HUD: `const MODEL = 'your-model'`, with HUD_API_KEY set; and `{ learningRate: 1e-5 }`.
await using policy = await startPolicy({ base: 'environments/calc/policy.base' })
const MODEL = policy
const ADAM = { learningRate: 7e-4, beta2: 0.99 }
const runtime = new LocalRuntime('environments/calc/env.ts')

const agent = createAgent(MODEL, { completionKwargs: { max_tokens: 2048, extra_body: { return_token_ids: true } } })
const trainer = new TrainingClient(MODEL)
const taskset = new Taskset(
  'calc',
  Array.from({ length: 16 }, (_, variant) => fixCalc({ variant })),
)
await using session = await Job.start('calc-rl', { group: GROUP })
for (let step = 0; step < STEPS; step++) {
  const start = session.runs.length
  await taskset.run(agent, { runtime, job: session, group: GROUP, maxConcurrent: WIDTH })
  const batch = session.runs.slice(start)
  for (let i = 0; i < batch.length; i += CHUNK)
    await trainer.forwardBackward(batch.slice(i, i + CHUNK), { lossFn: 'importance_sampling', groupSize: GROUP })
  await trainer.optimStep(ADAM)
  const solved = batch.filter(run => run.reward === 1).length
  console.log(`step ${step}: ${solved} of ${batch.length} solved`)
}
