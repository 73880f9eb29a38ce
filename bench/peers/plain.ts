import { fileURLToPath } from 'node:url'
import { execa } from 'execa'
import { medianOf } from '../../src/ladder/percentiles.ts'
import type { EngineCase, EngineFigures } from '../engine/measure.ts'
import { type BenchRow, formatNumber } from '../table.ts'
import type { Progress } from './progress.ts'

const script = fileURLToPath(new URL('../engine/one.js', import.meta.url))
const CASE_MS = 240_000
const MIB = 2 ** 20
const KINDS = ['plain', 'each', 'multiplexed'] as const
type Kind = (typeof KINDS)[number]

/**
 * `Promise.all` under p-limit in one thread beside the engine: the cases of the benchmark `engine`, taking turns. When interrupted,
 * the widths done until then.
 */
export async function runPlain(
  { quick, repetitions }: { readonly quick: boolean; readonly repetitions: number },
  { signal, say }: Progress,
): Promise<readonly BenchRow[]> {
  const rows: BenchRow[] = []
  const rollouts = quick ? 1_024 : 2_048
  try {
    for (const width of quick ? [256] : [32, 256]) {
      const figures = new Map<Kind, EngineFigures[]>()
      for (let repetition = 1; repetition <= repetitions; repetition += 1)
        for (const kind of KINDS) {
          const found = await measure({ kind, width, rollouts, waitMs: 0 }, signal)
          figures.set(kind, [...(figures.get(kind) ?? []), found])
          say(`${kind}: ${rollouts} rollouts of 75 KB, ${width} wide: ${found.perSecond.toFixed(0)}/s`)
        }
      rows.push(...rowsOf('each', width, figures), ...rowsOf('multiplexed', width, figures))
    }
  } catch (error) {
    if (!signal.aborted) throw error
  }
  return rows
}

async function measure(engineCase: EngineCase, cancelSignal: AbortSignal): Promise<EngineFigures> {
  const { stdout } = await execa(process.execPath, [script, JSON.stringify(engineCase)], {
    timeout: CASE_MS,
    cancelSignal,
    stderr: 'inherit',
  })
  return JSON.parse(stdout)
}

function rowsOf(kind: Kind, width: number, figures: ReadonlyMap<Kind, readonly EngineFigures[]>): readonly BenchRow[] {
  const median = (of: Kind, figure: (figures: EngineFigures) => number) => medianOf((figures.get(of) ?? []).map(figure))
  const row = (name: string, unit: string, figure: (figures: EngineFigures) => number): BenchRow => {
    const value = median(kind, figure)
    const theirs = median('plain', figure)
    return { name, value, unit, reference: `Promise.all + p-limit ${formatNumber(theirs)}`, ratio: value / theirs }
  }
  const name = kind === 'each' ? 'ours, TCP each' : 'ours'
  return [
    row(`rollouts of 75 KB journaled, ${width} wide, ${name}`, 'rollouts/s', ({ perSecond }) => perSecond),
    row('  CPU of the engine process', 'ms a rollout', ({ engineCpuMs }) => engineCpuMs),
    row('  peak RSS of the engine process', 'MiB', ({ peakRssBytes }) => peakRssBytes / MIB),
    row('  loop delay p99', 'ms', ({ loopP99Ms }) => loopP99Ms),
  ]
}
