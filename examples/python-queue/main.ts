/**
 * A Python script trains on what this engine rolls out, while it rolls out: `npm run build && node dist/examples/python-queue/main.js`. Groups go
 * through a queue over HTTP that hands out whole ones, holds the engine up when the script is slow, and gives a group to the next script when one dies.
 */
import { Job, LocalRuntime, Taskset } from 'troupe'
import { MISTAKES, makePolicyAgent } from './policy-agent.ts'
import { makeGroupQueue } from './queue.ts'
import { runScript } from './script.ts'

const [ROUNDS, GROUP] = [Number(process.argv[2] ?? 5), 8]
const MiB = 1024 * 1024

const leaving = new AbortController()
const queue = makeGroupQueue({
  maxGroups: 4,
  maxBytes: 8 * MiB,
  leaseMs: 30_000,
  policy: { version: 0, logits: MISTAKES.map(() => 0) },
  signal: leaving.signal,
})
const url = await queue.app.listen({ port: 0, host: '127.0.0.1' })
const script = runScript({ url, queue, signal: leaving.signal })
// A script that cannot be kept alive ends the rollouts, too.
script.catch(error => leaving.abort(error))

try {
  const taskset = await Taskset.load('environments/arith/tasks.ts')
  await using job = await Job.start('python-queue', {
    runtime: new LocalRuntime('environments/arith/env.ts'),
    threads: 0,
    seed: 1,
    maxConcurrent: 16,
    maxWaitingBytes: MiB,
    keepGroups: false,
    signal: leaving.signal,
  })
  const agent = makePolicyAgent(() => queue.policy)
  for (let round = 1; round <= ROUNDS; round += 1) {
    let [solved, runs] = [0, 0]
    for await (const group of taskset.stream(agent, { job, group: GROUP })) {
      solved += group.runs.filter(run => run.reward === 1).length
      runs += group.runs.length
      await queue.put(group)
    }
    console.log(`round ${round}: ${solved} of ${runs} solved, policy ${queue.policy.version}`)
  }
  await queue.finish()
  await script
  const { acked, handedOut } = queue.counts
  console.log(`${acked} groups trained on, ${handedOut} handed out`)
} catch (error) {
  leaving.abort(error)
  await script.catch(() => {}) // It is what was thrown, or was ended by it.
  throw error
} finally {
  await queue.app.close()
}
