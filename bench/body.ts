import { fork } from 'node:child_process'
import { once } from 'node:events'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { oneServer } from '../src/models/endpoint.ts'
import { HttpClient } from '../src/models/http.ts'
import { encodeGroups, toBody } from '../src/training/body/encode-groups.ts'
import { openEncoder } from '../src/training/body/encoder.ts'
import { checkGroups } from '../src/training/check-groups.ts'
import { TrainingClient } from '../src/training/client.ts'
import { forwardBackwardEnvelope, toInputs } from '../src/training/payload.ts'
import { forwardBackwardReply } from '../src/training/replies.ts'
import { GROUP_SIZE, makeBatch } from './body/batch.ts'
import type { BenchRow, BenchTable } from './table.ts'

const ROUNDS = 9
const QUICK_ROUNDS = 3
const REST_MS = 30
const RESOLUTION_MS = 1
const AIM_BLOCK_MS = 30
const MODEL_ID = '00000000-0000-4000-8000-000000000000'

interface Measured {
  readonly wallMs: number
  readonly blockMs: number
}

/**
 * A `forward-backward` body of 128 runs: how long it takes, and how long the calling thread stands still for it. Beside it the same
 * by `JSON.stringify` from arrays that are there already. Rounds take turns; medians of wall times, the longest of all blocks.
 */
export async function bodyBench({ quick }: { readonly quick: boolean }): Promise<BenchTable> {
  const runs = makeBatch()
  const options = { groupSize: GROUP_SIZE }
  const plain = { inputs: toInputs(runs), loss_fn: 'importance_sampling', group_size: GROUP_SIZE, reward_scale: 1 }
  const sink = fork(fileURLToPath(new URL('./body/sink.js', import.meta.url)))
  const [{ port }] = (await once(sink, 'message')) as [{ port: number }]
  const endpoint = oneServer(`http://127.0.0.1:${port}`)
  const encoder = openEncoder()
  const client = new TrainingClient(MODEL_ID, endpoint)
  const http = new HttpClient({})
  let text = ''
  let bytes = 0
  const cases = {
    stringify: async () => {
      text = JSON.stringify(plain)
    },
    encode: async () => {
      const groups = await encodeGroups(encoder, checkGroups(runs, GROUP_SIZE))
      const fragments = groups.flatMap(group => group.fragments)
      bytes = toBody(forwardBackwardEnvelope(options), fragments).bytes
    },
    post: async () => {
      await http.send('POST', endpoint.rlUrl, JSON.stringify(plain), forwardBackwardReply)
    },
    train: async () => {
      await client.forwardBackward(runs, options)
    },
  }
  const measured: Record<keyof typeof cases, Measured[]> = { stringify: [], encode: [], post: [], train: [] }
  try {
    for (let round = 0; round <= (quick ? QUICK_ROUNDS : ROUNDS); round += 1)
      for (const name of ['stringify', 'encode', 'post', 'train'] as const)
        measured[name].push(await measure(cases[name]))
  } finally {
    await Promise.all([client.close(), encoder.close(), http.close()])
    sink.disconnect()
    await once(sink, 'exit')
  }
  const [first] = measured.encode
  const [stringify, encode, post, train] = (['stringify', 'encode', 'post', 'train'] as const).map(name =>
    summarise(measured[name].slice(1)),
  )
  if (
    first === undefined ||
    stringify === undefined ||
    encode === undefined ||
    post === undefined ||
    train === undefined
  )
    throw new Error('nothing was measured')
  return {
    title: `Body: forward-backward with ${runs.length} runs`,
    rows: [
      { name: 'JSON.stringify of plain arrays', value: stringify.wallMs, unit: 'ms' },
      block(stringify),
      { name: '  its size', value: text.length / 1e6, unit: 'MB' },
      {
        ...against('encoded in threads', encode, 'JSON.stringify', stringify),
        aim: 'at most a third',
        met: encode.wallMs * 3 <= stringify.wallMs,
      },
      { ...block(encode), aim: `below ${AIM_BLOCK_MS} ms`, met: encode.blockMs < AIM_BLOCK_MS },
      { name: '  its size', value: bytes / 1e6, unit: 'MB' },
      { name: '  the first of the process: threads started, nothing compiled', value: first.wallMs, unit: 'ms' },
      { name: 'JSON.stringify and post, until answered', value: post.wallMs, unit: 'ms' },
      block(post),
      against('TrainingClient.forwardBackward, until answered', train, 'stringify and post', post),
      { ...block(train), aim: `below ${AIM_BLOCK_MS} ms`, met: train.blockMs < AIM_BLOCK_MS },
    ],
  }
}

/** Blocks are sampled every millisecond; a look away before and after lets the first and the last of them be seen. */
async function measure(work: () => Promise<void>): Promise<Measured> {
  globalThis.gc?.()
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  delay.enable()
  await wait(REST_MS)
  const startedAt = performance.now()
  await work()
  const wallMs = performance.now() - startedAt
  await wait(REST_MS)
  delay.disable()
  return { wallMs, blockMs: Math.max(0, delay.max / 1e6 - RESOLUTION_MS) }
}

function summarise(rounds: readonly Measured[]): Measured {
  const walls = rounds.map(({ wallMs }) => wallMs).sort((one, other) => one - other)
  return {
    wallMs: walls[Math.floor(walls.length / 2)] ?? Number.NaN,
    blockMs: Math.max(...rounds.map(({ blockMs }) => blockMs)),
  }
}

function block({ blockMs }: Measured): BenchRow {
  return { name: '  longest block of the calling thread', value: blockMs, unit: 'ms' }
}

function against(name: string, ours: Measured, reference: string, theirs: Measured): BenchRow {
  return { name, value: ours.wallMs, unit: 'ms', reference, ratio: ours.wallMs / theirs.wallMs }
}
