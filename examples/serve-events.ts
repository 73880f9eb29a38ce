/**
 * A web service that streams groups over server-sent events as they end: `npm run build && node dist/examples/serve-events.js`. It asks itself once and
 * ends; give it a port to have it stay.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { createAgent, LocalRuntime, Taskset, toErrorData } from 'troupe'

const taskset = await Taskset.load('environments/arith/tasks.ts')
const agent = createAgent('environments/arith/adder.ts')

const server = createServer(async (request, response) => {
  const tasks = new URL(request.url ?? '/', 'http://localhost').searchParams.get('tasks') ?? '0-3'
  const leaving = new AbortController()
  response.once('close', () => leaving.abort())
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
  try {
    const groups = taskset.select([tasks]).stream(agent, {
      runtime: new LocalRuntime('environments/arith/env.ts'),
      group: 4,
      threads: 1,
      signal: leaving.signal,
    })
    for await (const { task, runs } of groups) {
      const event = JSON.stringify({ slug: task.slug, rewards: runs.map(run => run.reward) })
      // A client that reads slowly is waited for. What ends meanwhile waits too, and at `maxWaitingBytes` nothing new is started.
      if (!response.write(`event: group\ndata: ${event}\n\n`)) await once(response, 'drain', { signal: leaving.signal })
    }
    response.end('event: end\ndata: {}\n\n')
  } catch (error) {
    response.end(`event: failed\ndata: ${JSON.stringify(toErrorData(error))}\n\n`)
  }
})

const port = Number(process.argv[2] ?? 0)
await once(server.listen(port, '127.0.0.1'), 'listening')
const address = server.address()
const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : port}/?tasks=0-3`
console.log(`curl -N '${url}'`)
if (port === 0) {
  console.log(await (await fetch(url)).text())
  server.close()
  server.closeIdleConnections()
}
