import type { LadderPorts } from '../ladder/ports.ts'
import { type Contestant, coldContestant, type OnLevel, type PoolRun, takeTurns } from './bench.ts'
import { toLevelRow } from './to-level-row.ts'

export interface ForkBenchPlan {
  /** Sandboxes asked for at once. */
  readonly width: number
  /** Each a case of its own: sandboxes that are kept to be forked. */
  readonly parents: readonly number[]
  /** One right behind the other. */
  readonly batches: number
  readonly repetitions: number
}

/** Cold against forks of so many parents, in turns. The parents are made once for each number of them, and kept over the repetitions. */
export function runForkBench(plan: ForkBenchPlan, ports: LadderPorts, onLevel: OnLevel): Promise<PoolRun> {
  const cases = plan.parents.map(parents => forkContestant(plan, parents))
  return takeTurns([coldContestant(plan.width), ...cases], plan.repetitions, ports, onLevel)
}

function forkContestant({ width, batches }: ForkBenchPlan, parents: number): Contestant {
  return {
    name: `fork of ${parents}`,
    // The batch before is still being deleted when the next is asked for.
    cell: { strategy: 'fork', work: 'infra', width, parents, maxSandboxes: 2 * width + parents },
    async round(cell, repetition, { level, held }) {
      const fill = await cell.prepare()
      held.add('parents', fill.held)
      const alone = await cell.measure(repetition, fill)
      held.add('one batch', alone.held)
      await level(toLevelRow(alone, { phase: 'fork', fill }))
      const again = await cell.prepare(width * batches)
      held.add('pause', again.held)
      for (let batch = 1; batch <= batches; batch += 1) {
        const measured = await cell.measure(repetition, undefined, { settle: batch === batches })
        held.add(`batch ${batch}`, measured.held)
        await level(toLevelRow(measured, { phase: 'batch', batch }))
      }
    },
  }
}
