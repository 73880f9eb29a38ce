/**
 * A route whose rollouts end with its request: `npm run build && node dist/examples/fastify-route.js` asks once and gets an answer, asks again and goes
 * away. Another framework differs in where it tells that a client has left.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { fastify } from 'fastify'
import { createAgent, hasTag, LocalRuntime, Taskset } from 'troupe'

const taskset = await Taskset.load('environments/arith/tasks.ts')
const client = new AbortController()
// Small sums are done at once. At a large one it thinks, and the client loses patience.
const agent = createAgent({
  name: 'thinker',
  async run({ prompt, signal }) {
    const [a = 0, b = 0] = (String(prompt).match(/\d+/g) ?? []).map(Number)
    if (a > 100) {
      client.abort()
      await pause(60_000, undefined, { signal })
    }
    return { answer: String(a + b), stop: 'done' }
  },
})

const app = fastify({ forceCloseConnections: true })
let ended = () => {}
const cancelled = new Promise<void>(resolve => {
  ended = resolve
})
app.get<{ Params: { tasks: string } }>('/rollouts/:tasks', async (request, reply) => {
  const leaving = new AbortController()
  reply.raw.once('close', () => leaving.abort())
  try {
    await using job = await taskset.select([request.params.tasks]).run(agent, {
      runtime: new LocalRuntime('environments/arith/env.ts'),
      threads: 0,
      signal: leaving.signal,
    })
    return { rewards: job.runs.map(run => run.reward) }
  } catch (error) {
    if (!hasTag(error, 'run-cancelled')) throw error
    console.log('the client left: its rollouts were cancelled, its sandboxes given back')
    ended()
    return reply
  }
})

const url = await app.listen({ port: 0, host: '127.0.0.1' })
console.log(await (await fetch(`${url}/rollouts/0-3`)).text())
await fetch(`${url}/rollouts/8-11`, { signal: client.signal }).catch(() => console.log('gone'))
await cancelled
await app.close()
