/** A client's process: CPU, memory and loop are those of one mode at one width alone. */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as wait } from 'node:timers/promises'
import { type ErrorData, toErrorData } from '../../src/errors.ts'
import { serveCalls } from './child.ts'
import type { Acquired, LadderClient } from './ladder-client.ts'
import type { LevelFigures } from './level.ts'
import type { ClientCalls, ClientSettings } from './processes.ts'

/** A finer one would itself be a good part of the CPU time of a narrow level: at 1 ms it takes 40 ms a second. */
const LOOP_RESOLUTION_MS = 10
const RSS_LOOK_MS = 50
/** A block that begins in the very turn in which the measuring does would be missed. */
const BEFORE_MS = 20

const { cell, place }: ClientSettings = JSON.parse(process.argv[2] ?? '{}')
const opening = open()
let preparing: Preparing | undefined

interface Preparing {
  readonly tookMs: number
  readonly cpuMs: number
  readonly before: LevelFigures['pool']
}

async function open(): Promise<LadderClient> {
  if (cell.mode === 'published') {
    const { openPublishedClient } = await import('./published-client.ts')
    return openPublishedClient(place)
  }
  const { openPoolClient } = await import('./pool-client.ts')
  return openPoolClient(cell, cell.mode, place)
}

async function prepare(): Promise<number> {
  const client = await opening
  const before = await client.counts()
  const from = performance.now()
  const cpu = process.cpuUsage()
  await client.prepare()
  preparing = { tookMs: performance.now() - from, cpuMs: cpuSince(cpu), before }
  return preparing.tookMs
}

async function measure(): Promise<LevelFigures> {
  const client = await opening
  if (preparing === undefined) await prepare()
  const { tookMs: fillMs, cpuMs: fillCpuMs, before } = preparing ?? { tookMs: 0, cpuMs: 0, before: undefined }
  preparing = undefined
  globalThis.gc?.()
  const delay = monitorEventLoopDelay({ resolution: LOOP_RESOLUTION_MS })
  delay.enable()
  await wait(BEFORE_MS)
  let peakRssBytes = process.memoryUsage.rss()
  const look = setInterval(() => {
    peakRssBytes = Math.max(peakRssBytes, process.memoryUsage.rss())
  }, RSS_LOOK_MS)
  try {
    const cpu = process.cpuUsage()
    const from = performance.now()
    const settled = await Promise.allSettled(Array.from({ length: cell.width }, () => client.acquire()))
    delay.disable()
    const acquired: Acquired[] = []
    const failures: ErrorData[] = []
    for (const each of settled)
      if (each.status === 'fulfilled') acquired.push(each.value)
      else failures.push(toErrorData(each.reason))
    await Promise.all(acquired.map(each => each.giveBack()))
    await client.settled()
    const after = await client.counts()
    return {
      samples: acquired.map(({ sample }) => sample),
      failures,
      wallMs: performance.now() - from,
      fillMs,
      cpuMs: fillCpuMs + cpuSince(cpu),
      peakRssBytes,
      loopP99Ms: Math.max(0, delay.percentile(99) / 1e6 - LOOP_RESOLUTION_MS),
      loopMaxMs: Math.max(0, delay.max / 1e6 - LOOP_RESOLUTION_MS),
      ...(before === undefined || after === undefined
        ? {}
        : {
            pool: {
              created: after.created - before.created,
              createFailures: after.createFailures - before.createFailures,
              held: after.held,
            },
          }),
    }
  } finally {
    delay.disable()
    clearInterval(look)
  }
}

function cpuSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}

async function close(): Promise<void> {
  try {
    await (await opening).close()
  } catch (error) {
    process.stderr.write(`${cell.mode} at ${cell.width}: ${error instanceof Error ? error.message : error}\n`)
  }
}

const calls: ClientCalls = {
  'warm-up': async () => (await opening).warmUp(),
  prepare,
  measure,
}

serveCalls(calls, close)
