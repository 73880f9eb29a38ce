import { boundMs, type Mode } from './overlap/bound.ts'
import { drawDurations } from './overlap/durations.ts'
import { GROUP, measureMode, SEED, taskset } from './overlap/measure.ts'
import { readPublishedSteps } from './overlap/published.ts'
import type { BenchRow, BenchTable } from './table.ts'

interface Case {
  readonly name: string
  readonly mode: Mode
  readonly aim?: number
}

const streaming: Mode = { overlap: true, order: 'planned', maxPolicyLag: 0, groupsPerCall: 2 }
const SEQUENTIAL: Case = { name: 'all rollouts, then training', mode: { ...streaming, overlap: false } }
const CASES: readonly Case[] = [
  { name: 'streaming', mode: streaming, aim: 1.5 },
  { name: 'streaming, policy lag 1', mode: { ...streaming, maxPolicyLag: 1 }, aim: 1.5 },
]
const MORE_CASES: readonly Case[] = [
  { name: 'streaming, groups as they end', mode: { ...streaming, order: 'completion' } },
  { name: 'streaming, as they end, a group a call', mode: { ...streaming, order: 'completion', groupsPerCall: 1 } },
]

/**
 * The published run's own rollout and training times through the real loop, shrunk, with an agent and a trainer that only wait: what
 * a step takes when training follows the rollouts, as published, and when it goes on beside them. Each beside its bound, which is
 * what the same waits take with no engine around them.
 */
export async function overlapBench({ quick }: { readonly quick: boolean }): Promise<BenchTable> {
  const scale = quick ? 60 : 20
  const published = readPublishedSteps().slice(0, quick ? 3 : undefined)
  const steps = drawDurations(published, taskset, { group: GROUP, seed: SEED, scale })
  /** Back in seconds of the published run, for one step. */
  const seconds = (ms: number) => (ms * scale) / steps.length / 1_000
  const rows: BenchRow[] = []
  const publishedMs = published.reduce((sum, { rolloutMs, trainMs }) => sum + rolloutMs + trainMs, 0) / scale
  const sequentialMs = await measureMode(steps, SEQUENTIAL.mode)
  rows.push({
    name: SEQUENTIAL.name,
    value: seconds(sequentialMs),
    unit: 's a step',
    reference: `published: ${seconds(publishedMs).toFixed(0)} s`,
    ratio: publishedMs / sequentialMs,
  })
  for (const { name, mode, aim } of quick ? CASES : [...CASES, ...MORE_CASES]) {
    const ms = await measureMode(steps, mode)
    const ratio = sequentialMs / ms
    const bound = boundMs(steps, mode)
    rows.push({
      name,
      value: seconds(ms),
      unit: 's a step',
      reference: SEQUENTIAL.name,
      ratio,
      ...(aim === undefined ? {} : { aim: `≥ ${aim} x`, met: ratio >= aim }),
    })
    rows.push({
      name: '  its bound: the waits alone',
      value: seconds(bound),
      unit: 's a step',
      reference: 'the same of all rollouts, then training',
      ratio: boundMs(steps, SEQUENTIAL.mode) / bound,
    })
  }
  const longer = published.reduce((sum, { rolloutMs, trainMs }) => sum + Math.max(rolloutMs, trainMs), 0) / scale
  rows.push({
    name: 'no lag whatever beats the longer of the two',
    value: seconds(longer),
    unit: 's a step',
    reference: 'the same of all rollouts, then training',
    ratio: boundMs(steps, SEQUENTIAL.mode) / longer,
  })
  return { title: `overlap: ${steps.length} published steps at 1:${scale}, 16 groups of ${GROUP}, 128 wide`, rows }
}
