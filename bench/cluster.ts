import { loadavg } from 'node:os'
import { toErrorData } from '../src/errors.ts'
import { faultRows } from './cluster/faults.ts'
import { type ClusterPart, parseClusterParts } from './cluster/options.ts'
import { overheadRows } from './cluster/overhead.ts'
import { scaleRows } from './cluster/scale.ts'
import type { Given } from './given.ts'
import type { BenchRow, BenchTable } from './table.ts'

const ROWS: Readonly<Record<ClusterPart, typeof overheadRows>> = {
  overhead: overheadRows,
  scale: scaleRows,
  faults: faultRows,
}

/**
 * The engine on workers that find it by NATS, all of them on this machine: what that costs beside threads, how many rollouts three workers have at once, and a training
 * whose machines and servers die. A part that cannot be shown is told of on stderr and has a row that says so.
 */
export async function clusterBench({ signal, ...given }: Given): Promise<BenchTable> {
  const rows: BenchRow[] = []
  const skipped: string[] = []
  const loads = [loadOf()]
  for (const part of parseClusterParts(given)) {
    try {
      if (signal?.aborted !== true) rows.push(...(await ROWS[part](given.quick, signal)))
    } catch (error) {
      if (signal?.aborted === true) break
      process.stderr.write(`SKIPPED: ${part}: ${toErrorData(error).message}\n`)
      skipped.push(part)
      rows.push({ name: `${part}: SKIPPED, see stderr`, value: Number.NaN, unit: '', aim: 'measured', met: false })
    }
    loads.push(loadOf())
  }
  return {
    title: 'cluster: workers that find the job by NATS, on this machine',
    rows,
    notes: `Load of the machine before and after each part: ${loads.join(', ')}.`,
    ...(skipped.length === 0 ? {} : { incomplete: `not shown: ${skipped.join(', ')}` }),
  }
}

const loadOf = (): string => (loadavg()[0] ?? 0).toFixed(2)
