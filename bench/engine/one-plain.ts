import { createWriteStream } from 'node:fs'
import { createConnection, type Socket } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import pLimit from 'p-limit'
import { toSandboxId } from '../../src/ids.ts'
import { LocalRuntime } from '../../src/runtimes/local.ts'
import { makeBenchDirectory } from '../directory.ts'
import { type EngineCase, type EngineFigures, takeFigures } from './measure.ts'
import { makeTurn } from './noop-agent.ts'

const TURNS = 10
const environment = fileURLToPath(new URL('./noop-env.js', import.meta.url))

/**
 * The same work as most people would write it: one thread, `Promise.all` under p-limit, a connection a rollout, token ids in
 * plain arrays, one JSON line a run in a file. Against the same environment host.
 */
export async function measurePlain(bench: EngineCase): Promise<EngineFigures> {
  const { directory, remove } = await makeBenchDirectory()
  const runtime = new LocalRuntime(environment, { transport: 'tcp' })
  const journal = createWriteStream(join(directory, 'runs.jsonl'))
  try {
    const sandbox = await runtime.provision({
      id: toSandboxId('plain'),
      task: undefined,
      labels: {},
      prewarm: false,
      signal: new AbortController().signal,
    })
    const { address } = sandbox
    if (address.kind !== 'tcp') throw new Error('the plain version speaks TCP')
    const limit = pLimit(bench.width)
    const one = async (seed: number) => {
      const run = await plainRollout(address.host, address.port, seed, bench.waitMs)
      await new Promise<void>((resolve, reject) =>
        journal.write(`${JSON.stringify(run)}\n`, error => (error ? reject(error) : resolve())),
      )
    }
    const round = (rollouts: number) =>
      Promise.all(Array.from({ length: rollouts }, (_, seed) => limit(() => one(seed))))
    if (bench.waitMs === 0) await round(Math.min(1_000, bench.rollouts))
    const figures = await takeFigures(async () => (await round(bench.rollouts)).length)
    await sandbox.dispose({ sessionEnded: true })
    return figures
  } finally {
    await runtime.close()
    journal.destroy()
    remove()
  }
}

async function plainRollout(host: string, port: number, seed: number, waitMs: number): Promise<unknown> {
  const socket = createConnection({ host, port, noDelay: true })
  const lines = createInterface({ input: socket })[Symbol.asyncIterator]()
  const call = makeCaller(socket, lines)
  await call('hello', {})
  await call('tasks.start', { id: 'noop', args: {} })
  if (waitMs > 0) await pause(waitMs)
  const turns = Array.from({ length: TURNS }, () => {
    const { tokens } = makeTurn()
    if (tokens === undefined) throw new Error('the no-op agent makes tokens')
    return { prompt: [...tokens.prompt], output: [...tokens.output], logprobs: [...tokens.logprobs] }
  })
  const { score } = await call('tasks.grade', { answer: 'done' })
  await call('bye', {})
  socket.destroy()
  return { seed, score, turns }
}

function makeCaller(socket: Socket, lines: AsyncIterator<string>) {
  let id = 0
  return async (method: string, params: unknown): Promise<{ readonly score?: number }> => {
    id += 1
    socket.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
    const line = await lines.next()
    if (line.done) throw new Error(`the connection ended during ${method}`)
    const reply = JSON.parse(line.value)
    if (reply.error !== undefined) throw new Error(reply.error.message)
    return reply.result
  }
}
