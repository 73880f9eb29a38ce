import { measure } from '../../kernel/measure.ts'
import { type BenchRow, formatNumber } from '../../table.ts'
import type { Progress } from '../progress.ts'
import { openFar } from './far.ts'
import { type Bout, openNear } from './near.ts'

/** The figures, by the words that begin the names of their cases. */
const FIGURES = [
  { key: 'tell', name: 'tell, same thread', peers: ['xstate', 'nact'] },
  { key: 'ask', name: 'ask, same thread, 1,000 open', peers: ['nact'] },
  { key: 'spawn', name: 'spawn, one message, stop', peers: ['xstate', 'nact'] },
  { key: 'far tell', name: 'tell, to a thread', peers: ['MessagePort'] },
  {
    key: 'far ask',
    name: 'ask, to a thread, 1,000 open',
    peers: ['MessagePort', 'comlink', 'workerpool', 'piscina'],
  },
] as const

const PER_K = 1_000

/** Our kernel beside actor libraries in one thread, and beside what reaches a worker thread. */
export async function runKernel(
  { quick }: { readonly quick: boolean },
  { signal, say }: Progress,
): Promise<readonly BenchRow[]> {
  const rounds = quick ? 2 : 5
  const near = await takeBout(openNear(), bout => measure(bout.cases, rounds, signal))
  say('kernel: same thread done')
  if (signal.aborted) return toKernelRows(near)
  const { far, lone } = await takeBout(await openFar(), async bout => ({
    far: await measure(bout.cases, rounds, signal),
    lone: signal.aborted ? new Map<string, number>() : await bout.lone(rounds),
  }))
  say('kernel: to a thread done')
  return [...toKernelRows(new Map([...near, ...far])), ...toLoneRows(lone)]
}

async function takeBout<Opened extends Bout, Found>(
  bout: Opened,
  take: (bout: Opened) => Promise<Found>,
): Promise<Found> {
  try {
    return await take(bout)
  } finally {
    await bout.close()
  }
}

/** Our rate beside each peer's, in thousands a second; figures that were not taken are left out. */
export function toKernelRows(rates: ReadonlyMap<string, number>): readonly BenchRow[] {
  return FIGURES.flatMap(({ key, name, peers }) =>
    peers.flatMap((peer): BenchRow[] => {
      const ours = rates.get(`${key} ours`)
      const theirs = rates.get(`${key} ${peer}`)
      if (ours === undefined || theirs === undefined || Number.isNaN(ours + theirs)) return []
      const ratio = ours / theirs
      return [
        {
          name,
          value: ours / PER_K,
          unit: 'k/s',
          reference: `${peer} ${formatNumber(theirs / PER_K)} k/s`,
          ratio,
          aim: '> 1 x',
          met: ratio > 1,
        },
      ]
    }),
  )
}

/** How long one question takes to be answered when there is no other. */
export function toLoneRows(microseconds: ReadonlyMap<string, number>): readonly BenchRow[] {
  const { ours, ...theirs } = Object.fromEntries(microseconds)
  if (ours === undefined) return []
  return Object.entries(theirs).map(([peer, value]) => ({
    name: 'ask alone, to a thread, p50',
    value: ours,
    unit: 'µs',
    reference: `${peer} ${formatNumber(value)} µs`,
    ratio: ours / value,
    aim: '< 1 x',
    met: ours / value < 1,
  }))
}
