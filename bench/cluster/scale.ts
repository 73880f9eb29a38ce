import type { BenchRow } from '../table.ts'
import { measureBy } from './one.ts'
import type { Part, ScaleCase, ScaleFigures } from './scale-main.ts'

const WORKERS = 3
const WIDTH = 20_000
const QUICK_WIDTH = 3_000
/** Longer than it takes to begin all of them on two cores. */
const WAIT_MS = 60_000
const QUICK_WAIT_MS = 15_000

/** What one has at most, and what all of them use. */
const PARTS: readonly { readonly part: Part; readonly one: string; readonly all: string }[] = [
  { part: 'coordinator', one: 'the coordinator', all: 'the coordinator' },
  { part: 'workers', one: 'a worker', all: 'the workers' },
  { part: 'hosts', one: "a worker's environment", all: 'the environments' },
  { part: 'nats', one: 'nats-server', all: 'nats-server' },
]

/** Rollouts that need no sandbox and mostly wait, all at once, on three workers of this machine. */
export async function scaleRows(quick: boolean, signal: AbortSignal | undefined): Promise<readonly BenchRow[]> {
  const given: ScaleCase = {
    workers: WORKERS,
    rollouts: quick ? QUICK_WIDTH : WIDTH,
    agent: { waitMs: quick ? QUICK_WAIT_MS : WAIT_MS },
  }
  const figures = await measureBy<ScaleFigures>('scale-main', given, signal)
  const { mostAtOnce, reachedMs, wallMs, rollouts, peakBytes, cpuMs, messages, bytes } = figures
  return [
    {
      name: `rollouts at once on ${WORKERS} workers`,
      value: mostAtOnce,
      unit: 'rollouts',
      aim: `≥ ${given.rollouts.toLocaleString('en')}`,
      met: mostAtOnce >= given.rollouts,
    },
    { name: '  reached after', value: reachedMs / 1_000, unit: 's' },
    { name: '  all graded and in the journal after', value: wallMs / 1_000, unit: 's' },
    ...PARTS.map(({ part, one }) => ({ name: `  memory of ${one}`, value: peakBytes[part] / 2 ** 20, unit: 'MiB' })),
    ...PARTS.map(({ part, all }) => ({ name: `  CPU of ${all}`, value: cpuMs[part] / rollouts, unit: 'ms a rollout' })),
    { name: '  messages in and out of NATS', value: messages / rollouts, unit: 'a rollout' },
    { name: '  the same', value: (messages / wallMs) * 1_000, unit: '/s' },
    { name: '  bytes in and out of NATS', value: bytes / rollouts / 1e3, unit: 'kB a rollout' },
  ]
}
