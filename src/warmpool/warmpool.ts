import type { OpenCell } from '../ladder/cell.ts'
import type { LadderPorts } from '../ladder/ports.ts'
import { type Contestant, coldContestant, type OnLevel, type PoolRun, type Recorder, takeTurns } from './bench.ts'
import { observed } from './observed-cell.ts'
import { toLevelRow } from './to-level-row.ts'

/** Who keeps the pool: the engine, or the provider. */
export const POOL_SOURCES = ['prewarm', 'provider-pool'] as const
export type PoolSource = (typeof POOL_SOURCES)[number]

export interface WarmpoolPlan {
  /** Sandboxes asked for at once. */
  readonly width: number
  /** Held ready. */
  readonly size: number
  readonly source: PoolSource
  /** One right behind the other. */
  readonly batches: number
  readonly repetitions: number
}

/** Cold against a pool, in turns; and of the pool how it fills, fills again, and serves batches that do not wait for it. */
export function runWarmpool(plan: WarmpoolPlan, ports: LadderPorts, onLevel: OnLevel): Promise<PoolRun> {
  return takeTurns([coldContestant(plan.width), warmContestant(plan)], plan.repetitions, ports, onLevel)
}

function warmContestant(plan: WarmpoolPlan): Contestant {
  const { width, size, source } = plan
  return {
    name: source,
    // Room for a whole pool beside a whole batch: it is refilled while the batch is out.
    cell: { strategy: source, work: 'infra', width, size, maxSandboxes: width + size },
    async round(cell, repetition, recorder) {
      const pool = observed(cell, size)
      await takeBatchAlone(plan, pool, repetition, recorder)
      await takeDrain(plan, pool, repetition, recorder)
      await takeBatches(plan, pool, repetition, recorder)
    },
  }
}

type Pool = Pick<OpenCell, 'prepare' | 'measure'>

/** A batch of a full pool, and nothing to come after it: the pool makes nothing anew meanwhile, so that its CPU time is the batch's own. */
async function takeBatchAlone(plan: WarmpoolPlan, pool: Pool, repetition: number, { level, held }: Recorder) {
  const fill = await pool.prepare(fullPool(plan))
  held.add('fill', fill.held)
  const alone = await pool.measure(repetition, fill)
  held.add('one batch', alone.held)
  await level(toLevelRow(alone, { phase: 'warm', fill }))
}

/** As the pool keeps what is asked for only, it is told of more than one batch: then it refills from the first lease on. */
async function takeDrain(plan: WarmpoolPlan, pool: Pool, repetition: number, { level, held }: Recorder) {
  const full = await pool.prepare(plan.width + fullPool(plan))
  held.add('fill again', full.held)
  const drain = await pool.measure(repetition, undefined, { settle: false })
  held.add('drain', drain.held)
  const refill = await pool.prepare(Math.max(fullPool(plan), plan.width * plan.batches))
  held.add('refill', refill.held)
  await level(toLevelRow(drain, { phase: 'drain', refill }))
}

/** Begins with a full pool. The last waits until all is over, so that what has leaked is counted. */
async function takeBatches({ batches }: WarmpoolPlan, pool: Pool, repetition: number, { level, held }: Recorder) {
  for (let batch = 1; batch <= batches; batch += 1) {
    const measured = await pool.measure(repetition, undefined, { settle: batch === batches })
    held.add(`batch ${batch}`, measured.held)
    await level(toLevelRow(measured, { phase: 'batch', batch }))
  }
}

/** What the pool has to be told of to be full, and a batch. */
const fullPool = ({ width, size }: WarmpoolPlan): number => Math.max(width, size)
