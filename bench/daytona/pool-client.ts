import { setTimeout as wait } from 'node:timers/promises'
import type { AskPoolStats, DrainPool, Lease, PoolMessage, PoolStats } from '../../actors/messages.ts'
import { sandboxPool } from '../../actors/sandbox-pool.ts'
import { systemClock } from '../../src/clock.ts'
import { fromErrorData, TroupeError } from '../../src/errors.ts'
import { randomIds, toLeaseId, toRunId, toSandboxId } from '../../src/ids.ts'
import type { PoolOptions } from '../../src/job/options.ts'
import type { Actor } from '../../src/kernel/actor.ts'
import type { Ref } from '../../src/kernel/ref.ts'
import { makeSystem } from '../../src/kernel/system.ts'
import { toOwnerWord } from '../../src/owner.ts'
import type { Runtime } from '../../src/runtimes/runtime.ts'
import type { Task } from '../../src/taskset/task.ts'
import { makeControlClient } from '../../src/wire/client.ts'
import type { Acquired, LadderClient } from './ladder-client.ts'
import type { Cell, Mode } from './level.ts'
import { openRuntime, toProviderName } from './open-runtime.ts'
import type { EmulatorPlace } from './processes.ts'

const LEASE_MS = 120_000
const HELLO_MS = 60_000
const READY_MS = 180_000
const LOOK_MS = 20
const ASK_MS = 5_000
const DRAIN_MS = 60_000
const PARENTS = 4
/** The sandbox by which the provider's pool is known to be ours, for as long as it is held. */
const ANCHORS = 1

const task: Task = { env: 'noop', id: 'noop', args: {}, slug: 'noop' }
const labels = { job: 'bench', owner: toOwnerWord() }
const owner: Actor<null, never> = { name: 'asker', initial: () => null, receive: () => null }

/** Our client: leases from the pool's own actor, then a control session with what was leased. Sandboxes come from where `mode` says. */
export async function openPoolClient(
  cell: Cell,
  mode: Exclude<Mode, 'published'>,
  place: EmulatorPlace,
): Promise<LadderClient> {
  const { width } = cell
  const runtime = openRuntime(cell, place)
  const options = toPoolOptions(mode, width)
  await runtime.preflight({ sandboxes: options.maxSandboxes ?? width, providerPool: mode === 'provider-pool' })
  const system = makeSystem({ node: 'bench' })
  let pool: Ref<PoolMessage> | undefined
  const control = makeControlClient()
  const asker = system.spawn(owner)
  let leases = 0
  const answered = makeBarrier(width)

  /** Spawned by the first who needs it: from then on the pool makes ready what it keeps. */
  const thePool = () =>
    (pool ??= system.spawn(
      sandboxPool({
        runtime,
        pool: options,
        maxSandboxes: options.maxSandboxes ?? width,
        labels,
        ids: randomIds,
        report: ({ message }) => process.stderr.write(`pool: ${message}\n`),
      }),
    ))

  function stats(): Promise<PoolStats> {
    const question: AskPoolStats = { type: 'pool-stats' }
    return system.ask(thePool(), question, ASK_MS)
  }

  async function acquire(): Promise<Acquired> {
    const from = performance.now()
    const askedAtMs = performance.timeOrigin + from
    const leaseId = toLeaseId(`lease-${leases++}`)
    const question: Lease = {
      type: 'lease',
      leaseId,
      runId: toRunId(leaseId),
      task,
      owner: asker,
      deadlineMs: LEASE_MS,
    }
    const reply = await system.ask(thePool(), question, LEASE_MS + ASK_MS)
    const leasedMs = performance.now() - from
    const allAnswered = answered()
    if (reply.type === 'refused') throw fromErrorData(reply.error)
    // A lease of what is ready takes less than a connection; connecting at once would only measure how the two get in each other's way.
    if (mode === 'prewarm') await allAnswered
    const { address, sandboxId, sessionId, kind } = reply
    const release = (sessionEnded: boolean) => {
      thePool().tell({ type: 'release', leaseId, sessionEnded })
    }
    try {
      const session = await control.connect(address, {
        clock: systemClock,
        deadlineMs: HELLO_MS,
        ephemeral: true,
        ...(sessionId === undefined ? {} : { sessionId }),
      })
      const usableMs = performance.now() - from
      return {
        sample: {
          sandbox: toProviderName(sandboxId),
          askedAtMs,
          stages: { lease: leasedMs, hello: usableMs },
          usableMs,
          kind,
        },
        giveBack: async () => {
          release(await session.end())
        },
      }
    } catch (error) {
      release(false)
      throw error
    }
  }

  return {
    acquire,
    warmUp: () => warmUp(runtime),
    prepare: () => prepare(mode, width, thePool(), stats),
    settled: () =>
      until(async () => {
        const { leased, deleting, creating } = await stats()
        return leased + deleting + creating === 0
      }, LOOK_MS),
    async counts() {
      const { created, createFailures, gone } = await stats()
      return { created, createFailures, held: created - gone + (mode === 'provider-pool' ? ANCHORS : 0) }
    },
    async close() {
      const question: DrainPool = { type: 'drain-pool' }
      if (pool !== undefined) await system.ask(pool, question, DRAIN_MS)
      await control.close()
      await system.stop()
      await runtime.close()
    },
  }
}

/** Resolves for all when it has been called `count` times, and begins anew. */
function makeBarrier(count: number): () => Promise<void> {
  const waiting: (() => void)[] = []
  return () =>
    new Promise(resolve => {
      waiting.push(resolve)
      if (waiting.length === count) for (const pass of waiting.splice(0)) pass()
    })
}

/** Tells the pool what is coming, and waits until it really has what the mode is about. */
async function prepare(
  mode: Exclude<Mode, 'published'>,
  width: number,
  pool: Ref<PoolMessage>,
  stats: () => Promise<PoolStats>,
): Promise<void> {
  const from = performance.now()
  pool.tell({ type: 'demand', remaining: width })
  if (mode === 'cold') return
  await until(async () => {
    const { parents, providerPool, ready, sourceError } = await stats()
    if (sourceError !== undefined) throw fromErrorData(sourceError)
    if (mode === 'prewarm') return ready >= width
    if (mode === 'fork') return parents.kept >= Math.min(PARENTS, width)
    // A count from before the last level would tell of members that have been claimed since.
    const isFresh = (providerPool?.countedMsAgo ?? Number.POSITIVE_INFINITY) < performance.now() - from
    return isFresh && (providerPool?.ready ?? 0) >= width
  }, LOOK_MS)
}

function toPoolOptions(mode: Exclude<Mode, 'published'>, width: number): PoolOptions {
  switch (mode) {
    case 'cold':
      return { strategy: 'cold', size: 0, source: { type: 'create' }, maxSandboxes: width }
    case 'prewarm':
      return { strategy: 'prewarm', size: width, source: { type: 'create' }, maxSandboxes: width }
    case 'provider-pool':
      return { strategy: 'cold', size: 0, source: { type: 'provider-pool', size: width }, maxSandboxes: width }
    case 'fork':
      return {
        strategy: 'cold',
        size: 0,
        source: { type: 'fork', parents: PARENTS },
        maxSandboxes: width + PARENTS,
      }
  }
}

/** Past the pool, so that what the pool keeps for the first level is untouched. */
async function warmUp(runtime: Runtime): Promise<void> {
  const sandbox = await runtime.provision({
    id: toSandboxId(`warm-up-${randomIds.hex(6)}`),
    task,
    labels,
    prewarm: false,
    signal: AbortSignal.timeout(LEASE_MS),
  })
  await sandbox.dispose({ sessionEnded: false })
}

async function until(done: () => Promise<boolean>, lookMs: number): Promise<void> {
  const deadline = performance.now() + READY_MS
  while (!(await done())) {
    if (performance.now() > deadline)
      throw new TroupeError({ tag: 'bench-not-ready', message: `not ready within ${READY_MS / 1_000} s` })
    await wait(lookMs)
  }
}
