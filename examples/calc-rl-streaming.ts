/**
 * The loop of `calc-rl.ts` as a user of this engine writes it: chunks of whole groups are trained on while the rest still roll
 * out. `npm run build && node dist/examples/calc-rl-streaming.js`
 */
import { concatMap, lastValueFrom } from 'rxjs'
import { chunkGroups, createAgent, Job, LocalRuntime, Taskset, TrainingClient } from 'troupe'
import { startPolicy } from 'troupe/policy'
import { fixCalc } from '../environments/calc/env.ts'

const [GROUP, WIDTH, CHUNK] = [8, 128, 16]
const STEPS = Number(process.argv[2] ?? 10)
const MiB = 1024 * 1024

await using policy = await startPolicy({ base: 'environments/calc/policy.base' })
const runtime = new LocalRuntime('environments/calc/env.ts')
const agent = createAgent(policy, { completionKwargs: { max_tokens: 2048, extra_body: { return_token_ids: true } } })
const trainer = new TrainingClient(policy)
const taskset = new Taskset(
  'calc',
  Array.from({ length: 16 }, (_, variant) => fixCalc({ variant })),
)
await using session = await Job.start('calc-rl-streaming', { group: GROUP })
for (let step = 0; step < STEPS; step++) {
  const start = session.runs.length
  await lastValueFrom(
    taskset.stream(agent, { runtime, job: session, group: GROUP, maxConcurrent: WIDTH }).pipe(
      chunkGroups({ maxTrajectories: CHUNK, maxBytes: 8 * MiB }),
      concatMap(chunk => trainer.forwardBackward(chunk, { lossFn: 'importance_sampling', groupSize: GROUP })),
    ),
  )
  await trainer.optimStep({ learningRate: 7e-4, beta2: 0.99 })
  const batch = session.runs.slice(start)
  console.log(`step ${step}: ${batch.filter(run => run.reward === 1).length} of ${batch.length} solved`)
}
