import type { BenchRow } from '../table.ts'
import type { FaultsCase, FaultsFigures } from './faults-main.ts'
import { OWN_NETWORK, whyNoNamespaces } from './namespaces.ts'
import { measureBy } from './one.ts'

const GROUP = 8
const STEPS = 6
const QUICK_STEPS = 4
const SEED = 3
const REPETITIONS = 3
const REDELIVER_S = 4

/** Rejects with what is missing where network namespaces cannot be made. */
export async function faultRows(quick: boolean, signal: AbortSignal | undefined): Promise<readonly BenchRow[]> {
  const problem = await whyNoNamespaces()
  if (problem !== undefined) throw new Error(problem)
  const rows: BenchRow[] = []
  for (let at = 0; at < (quick ? 1 : REPETITIONS); at += 1) {
    const given: FaultsCase = {
      steps: quick ? QUICK_STEPS : STEPS,
      group: GROUP,
      seed: SEED + at,
      redeliverS: REDELIVER_S,
    }
    const figures = await measureBy<FaultsFigures>('faults-main', given, signal, OWN_NETWORK)
    rows.push(...toRows(given, figures))
  }
  return rows
}

function toRows({ seed, steps }: FaultsCase, figures: FaultsFigures): readonly BenchRow[] {
  const { planned, runs, lost, different, left, aloneMs, clusteredMs, faults, healedRollouts, nextRollouts } = figures
  for (const each of [...different, ...left, ...figures.warnings]) process.stderr.write(`  ${each}\n`)
  const perStep = planned / steps
  const none = (name: string, value: number, unit: string): BenchRow => ({
    name: `  ${name}`,
    value,
    unit,
    aim: '0',
    met: value === 0,
  })
  return [
    {
      name: `training with faults on three hosts, seed ${seed}`,
      value: clusteredMs / 1_000,
      unit: 's',
      reference: 'on one machine, without',
      ratio: clusteredMs / aloneMs,
    },
    {
      name: '  runs in the journal, each once',
      value: runs,
      unit: 'runs',
      aim: String(planned),
      met: runs === planned,
    },
    none('lost, or without a grade', lost, 'runs'),
    none('runs and groups that differ from those on one machine', different.length, ''),
    none('processes, sandboxes and files left', left.length, ''),
    { name: '  by the worker that was cut off, once it was back', value: healedRollouts, unit: 'runs' },
    {
      name: '  by that one alone, in the first step of the next training',
      value: nextRollouts,
      unit: 'runs',
      aim: String(perStep),
      met: nextRollouts === perStep,
    },
    ...faults.map(({ what, durable }) => ({ name: `  ${what}, at`, value: durable, unit: 'runs' })),
  ]
}
