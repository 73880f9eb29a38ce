/** A cell's process, seen from inside: CPU, memory and loop are those of one strategy at one width alone. */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as wait } from 'node:timers/promises'
import { hide } from '../../redact.ts'
import type { LevelFigures, PoolMoment, Prepared } from '../level.ts'
import type { ClientCalls, MeasureArgument } from '../process/calls.ts'
import { serveCalls } from '../process/child.ts'
import type { LadderClient, PoolBooks } from './ladder-client.ts'

/** A finer one would itself be a good part of the CPU time of a narrow level: at 1 ms it takes 40 ms a second. */
const LOOP_RESOLUTION_MS = 10
const RSS_LOOK_MS = 50
const POOL_LOOK_MS = 100
/** A block that begins in the very turn in which the measuring does would be missed. */
const BEFORE_MS = 20

/** Makes this process a cell's client, for as long as its parent wants it. */
export function serveClient(open: () => Promise<LadderClient>): void {
  const opening = open()
  opening.catch(() => {}) // told with the first call
  /** Of the pool, when what is made ready for a level began to be made. */
  let before: PoolBooks | undefined
  let restRss: number | undefined

  async function prepare({ demand }: { readonly demand: number }): Promise<Prepared> {
    const client = await opening
    before = await client.books()
    globalThis.gc?.()
    restRss = process.memoryUsage.rss()
    const watch = watchPool(client)
    const from = performance.now()
    const cpu = process.cpuUsage()
    try {
      await client.prepare(demand)
      const figures = { tookMs: performance.now() - from, cpuMs: cpuSince(cpu) }
      // A pool on this machine may have made everything by the first look.
      const first = before === undefined ? [] : [{ atMs: 0, ...before.now }]
      return { ...figures, held: [...first, ...(await watch.stop())] }
    } finally {
      await watch.stop()
    }
  }

  async function measure({ settle = true }: MeasureArgument = {}): Promise<LevelFigures> {
    const client = await opening
    const booked = before ?? (await client.books())
    before = undefined
    globalThis.gc?.()
    const delay = monitorEventLoopDelay({ resolution: LOOP_RESOLUTION_MS })
    const restRssBytes = restRss ?? process.memoryUsage.rss()
    restRss = undefined
    delay.enable()
    await wait(BEFORE_MS)
    const memory = watchMemory(restRssBytes)
    const watch = watchPool(client)
    try {
      const cpu = process.cpuUsage()
      const from = performance.now()
      const { samples, failures, giveBack } = await client.run()
      delay.disable()
      await giveBack()
      const leaked = settle ? await client.leaked() : 0
      const wallMs = performance.now() - from
      const cpuMs = cpuSince(cpu)
      const books = await client.books()
      return {
        samples,
        failures,
        wallMs,
        cpuMs,
        restRssBytes,
        peakRssBytes: memory.peak(),
        loopP99Ms: Math.max(0, delay.percentile(99) / 1e6 - LOOP_RESOLUTION_MS),
        loopMaxMs: Math.max(0, delay.max / 1e6 - LOOP_RESOLUTION_MS),
        errors: client.takeErrors(),
        leaked,
        held: await watch.stop(),
        ...(books === undefined ? {} : { pool: difference(booked, books) }),
      }
    } finally {
      delay.disable()
      memory.stop()
      await watch.stop()
    }
  }

  const calls: ClientCalls = {
    'warm-up': async () => (await opening).warmUp(),
    prepare,
    measure,
  }
  serveCalls(calls, async () => {
    try {
      const client = await opening.catch(() => undefined)
      await client?.close()
    } catch (error) {
      process.stderr.write(`${hide(error instanceof Error ? error.message : String(error))}\n`)
    }
  })
}

function difference(before: PoolBooks | undefined, { created, createFailures, owned }: PoolBooks) {
  return {
    created: created - (before?.created ?? 0),
    createFailures: createFailures - (before?.createFailures ?? 0),
    owned,
  }
}

function cpuSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}

function watchMemory(from: number) {
  let peak = from
  const look = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss())
  }, RSS_LOOK_MS)
  return { peak: () => Math.max(peak, process.memoryUsage.rss()), stop: () => clearInterval(look) }
}

/** What the pool holds, every tenth of a second; the last moment is that of the stop. Stopping twice is once. */
function watchPool(client: LadderClient): { stop(): Promise<readonly PoolMoment[]> } {
  const held: PoolMoment[] = []
  const from = performance.now()
  let looking = Promise.resolve()
  const look = () => {
    looking = looking.then(async () => {
      const atMs = Math.round(performance.now() - from)
      const books = await client.books()
      if (books !== undefined) held.push({ atMs, ...books.now })
    })
    looking.catch(() => {}) // the stop tells
  }
  look()
  const timer = setInterval(look, POOL_LOOK_MS)
  let stopped: Promise<readonly PoolMoment[]> | undefined
  return {
    stop() {
      clearInterval(timer)
      if (stopped === undefined) {
        look()
        stopped = looking.then(() => held)
      }
      return stopped
    },
  }
}
