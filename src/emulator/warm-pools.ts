import { sleep } from '../clock.ts'
import { type Context, makeUuid } from './context.ts'
import { refused } from './errors.ts'
import { FIRST_FILL_FACTOR } from './figures.ts'
import { type PlannedMember, planRefill } from './refill-plan.ts'
import { DEFAULT_RESOURCES, type Resources, type SandboxRecord } from './sandbox.ts'
import type { NewSandbox, Sandboxes } from './sandboxes.ts'

export interface WarmPool {
  readonly id: string
  readonly snapshot: string
  readonly target: string
  /** The snapshot's: what a create that names none gets. */
  readonly resources: Resources
  pool: number
  errorReason: string | null
  readonly createdAt: number
  updatedAt: number
  readonly members: Set<SandboxRecord>
  /** Counted, and not there yet. */
  counted: number
  /** On their way, counted or not. */
  coming: number
  filled: boolean
}

/** How long claims may go on before one refill is planned for all that they took. */
const GATHER_MS = 200

export function makeWarmPools(context: Context, sandboxes: Sandboxes) {
  const { clock, wall, signal, random, ids } = context
  const pools = new Map<string, WarmPool>()

  function find(id: string): WarmPool {
    const found = pools.get(id)
    if (found === undefined) throw refused(404, `Warm pool with ID ${id} not found`)
    return found
  }

  async function refill(pool: WarmPool): Promise<void> {
    await sleep(clock, GATHER_MS, signal)
    const missing = pool.pool - pool.members.size - pool.coming
    if (missing <= 0 || !pools.has(pool.id)) return
    pool.coming += missing
    const plan = planRefill(missing, pool.filled ? 1 : FIRST_FILL_FACTOR, random)
    pool.filled = true
    await Promise.all(plan.map(member => bring(pool, member)))
  }

  async function bring(pool: WarmPool, { countedMs, readyMs }: PlannedMember): Promise<void> {
    await sleep(clock, countedMs, signal)
    pool.counted += 1
    await sleep(clock, readyMs - countedMs, signal)
    pool.counted -= 1
    pool.coming -= 1
    if (!pools.has(pool.id) || pool.members.size >= pool.pool) return
    try {
      const { snapshot, target, resources, id } = pool
      const member = sandboxes.insert({ snapshot, target, resources, warmPoolId: id, autoStopInterval: 0 })
      pool.members.add(member)
      sandboxes.startedNow(member)
    } catch (error) {
      pool.errorReason = error instanceof Error ? error.message : String(error)
    }
  }

  function shrink(pool: WarmPool): void {
    for (const member of pool.members) {
      if (pool.members.size <= pool.pool) return
      pool.members.delete(member)
      context.background(sandboxes.destroy(member))
    }
  }

  function available(pool: WarmPool): SandboxRecord | undefined {
    for (const member of pool.members) {
      if (member.state === 'started') return member
      pool.members.delete(member) // lost: the refill that follows brings another
      context.background(sandboxes.destroy(member))
    }
    return undefined
  }

  return {
    pools,
    find,
    create(wanted: { snapshot: string; target: string; pool: number; resources?: Resources }): WarmPool {
      const twin = [...pools.values()].some(each => each.snapshot === wanted.snapshot && each.target === wanted.target)
      if (twin)
        throw refused(409, `Warm pool for snapshot ${wanted.snapshot} in region ${wanted.target} already exists`)
      const now = wall.wallTime()
      const pool: WarmPool = {
        id: makeUuid(ids),
        resources: DEFAULT_RESOURCES,
        ...wanted,
        errorReason: null,
        createdAt: now,
        updatedAt: now,
        members: new Set(),
        counted: 0,
        coming: 0,
        filled: false,
      }
      pools.set(pool.id, pool)
      context.background(refill(pool))
      return pool
    },
    resize(pool: WarmPool, size: number): void {
      pool.pool = size
      pool.updatedAt = wall.wallTime()
      shrink(pool)
      context.background(refill(pool))
    },
    remove(pool: WarmPool): void {
      pools.delete(pool.id)
      pool.pool = 0
      shrink(pool)
    },
    /** What is deleted by hand is replaced. */
    forget(record: SandboxRecord): void {
      for (const pool of pools.values()) if (pool.members.delete(record)) context.background(refill(pool))
    },
    /** A member for this request, if a pool may answer it: same snapshot and region, nothing of its own. */
    claim(wanted: NewSandbox): SandboxRecord | undefined {
      if (Object.keys(wanted.env ?? {}).length > 0) return undefined
      for (const pool of pools.values()) {
        if (pool.snapshot !== wanted.snapshot || pool.target !== wanted.target) continue
        const { cpu, memory, disk } = wanted.resources ?? pool.resources
        if (cpu !== pool.resources.cpu || memory !== pool.resources.memory || disk !== pool.resources.disk) continue
        const member = available(pool)
        if (member === undefined) continue
        sandboxes.claim(member, wanted)
        pool.members.delete(member)
        context.background(refill(pool))
        return member
      }
      return undefined
    },
  }
}

export type WarmPools = ReturnType<typeof makeWarmPools>

/** The provider's representation: `currentSize` counts members that are only on their way. */
export function toPoolDto(pool: WarmPool, organizationId: string) {
  const { cpu, memory, disk } = pool.resources
  return {
    id: pool.id,
    organizationId,
    snapshot: pool.snapshot,
    target: pool.target,
    pool: pool.pool,
    currentSize: Math.min(pool.pool, pool.members.size + pool.counted),
    cpu,
    mem: memory,
    disk,
    osUser: 'agent',
    env: {},
    errorReason: pool.errorReason,
    createdAt: new Date(pool.createdAt).toISOString(),
    updatedAt: new Date(pool.updatedAt).toISOString(),
  }
}
