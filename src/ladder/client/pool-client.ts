import { openPoolAlone, type PoolAlone } from '../../assembly/pool-alone.ts'
import { systemClock } from '../../clock.ts'
import { toErrorData } from '../../errors.ts'
import { randomIds, toSandboxId } from '../../ids.ts'
import { toOwnerWord } from '../../owner.ts'
import type { Runtime } from '../../runtimes/runtime.ts'
import type { Task } from '../../taskset/task.ts'
import { makeControlClient } from '../../wire/client.ts'
import { countByTag, makeErrorCount } from '../error-count.ts'
import { sandboxesLeft } from '../errors.ts'
import type { Cell, Sample } from '../level.ts'
import { acquireAll } from './acquire-all.ts'
import { isAtRest, toBooks } from './books.ts'
import type { LadderClient } from './ladder-client.ts'
import { countLeaked } from './leaked.ts'
import { toPoolOptions } from './pool-options.ts'
import { untilReady } from './readiness.ts'
import { watchProvisions } from './watched-runtime.ts'

const LEASE_MS = 120_000
const HELLO_MS = 60_000

/**
 * The work `infra`: leases from the pool's own actor, then a control session with what was leased: connect, `hello`, and goodbye. The runtime is the
 * client's to close.
 */
export function openPoolClient(cell: Cell, given: Runtime, task: Task): LadderClient {
  const options = toPoolOptions(cell)
  const job = `ladder-${randomIds.hex(4)}`
  const labels = { job, owner: toOwnerWord() }
  const control = makeControlClient()
  const errors = makeErrorCount()
  const runtime = watchProvisions(given, errors.add)
  let opened: PoolAlone | undefined

  /** Opened by the first who needs it. */
  const pool = (): PoolAlone =>
    (opened ??= openPoolAlone({
      runtime,
      pool: options,
      maxSandboxes: options.maxSandboxes,
      labels,
      report: errors.add,
    }))

  async function acquire(gate: Gate) {
    const from = performance.now()
    const leasing = pool().lease(task, LEASE_MS)
    leasing.catch(() => {}) // whoever awaits it is told
    await Promise.allSettled([leasing])
    const leasedMs = performance.now() - from
    const passed = gate(await leasing.then(({ kind }) => kind === 'hit').catch(() => false))
    const { sandboxId, address, sessionId, kind, release } = await leasing
    // A lease of what is ready takes less than a connection; connecting at once would only measure how the two get in each other's way.
    if (kind === 'hit') await passed
    try {
      const session = await control.connect(address, {
        clock: systemClock,
        deadlineMs: HELLO_MS,
        ephemeral: true,
        ...(sessionId === undefined ? {} : { sessionId }),
      })
      const usableMs = performance.now() - from
      const sample: Sample = {
        sandbox: sandboxId,
        askedAtMs: performance.timeOrigin + from,
        stages: { lease: leasedMs, hello: usableMs },
        usableMs,
        kind,
      }
      return { sample, giveBack: async () => release({ sessionEnded: await session.end() }) }
    } catch (error) {
      errors.add(toErrorData(error))
      release({ sessionEnded: false })
      throw error
    }
  }

  return {
    async warmUp() {
      const providerPool = cell.strategy === 'provider-pool'
      await runtime.preflight({
        sandboxes: options.maxSandboxes + (providerPool ? (cell.size ?? cell.width) : 0),
        providerPool,
      })
      await warmUp(given, task, labels)
    },
    async prepare(demand) {
      pool().expect(demand)
      await untilReady(cell, () => pool().stats())
    },
    async run() {
      const { ready } = await pool().stats()
      const gate = makeGate(Math.min(ready, cell.width), cell.width)
      return acquireAll(cell.width, () => acquire(gate))
    },
    books: async () => toBooks(await pool().stats()),
    leaked: () =>
      countLeaked(runtime, job, async () => {
        const stats = await pool().stats()
        return { atRest: isAtRest(stats), owned: toBooks(stats).owned }
      }),
    takeErrors: () => countByTag(errors.take()),
    async close() {
      try {
        const left = (await opened?.close()) ?? []
        // Its own level is over: whoever ends this process is told.
        if (left.length > 0) throw sandboxesLeft(left)
      } finally {
        await control.close()
        await runtime.close()
      }
    },
  }
}

/** Is told of each lease that is settled, whether it found a sandbox ready; lets pass when all that could find one have been told of. */
type Gate = (isHit: boolean) => Promise<void>

/** Opens after `hits` hits, or when all `leases` are settled: a sandbox that was ready may die before it is leased. */
function makeGate(hits: number, leases: number): Gate {
  const waiting: (() => void)[] = []
  let hitsSeen = 0
  let seen = 0
  return isHit =>
    new Promise(resolve => {
      seen += 1
      if (isHit) hitsSeen += 1
      waiting.push(resolve)
      if (hitsSeen >= hits || seen === leases) for (const pass of waiting.splice(0)) pass()
    })
}

const ATTEMPTS = 3

/** Past the pool, so that what the pool keeps for the first level is untouched. What may pass is tried again: it would be counted in a level, and not here. */
async function warmUp(runtime: Runtime, task: Task, labels: Readonly<Record<string, string>>): Promise<void> {
  for (let attempt = 1; ; attempt += 1)
    try {
      const sandbox = await runtime.provision({
        id: toSandboxId(`warm-up-${randomIds.hex(6)}`),
        task,
        labels,
        prewarm: false,
        signal: AbortSignal.timeout(LEASE_MS),
      })
      await sandbox.dispose({ sessionEnded: false })
      return
    } catch (error) {
      if (attempt === ATTEMPTS || toErrorData(error).transient !== true) throw error
    }
}
