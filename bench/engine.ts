import { fileURLToPath } from 'node:url'
import { execa } from 'execa'
import type { EngineCase, EngineFigures } from './engine/measure.ts'
import type { BenchTable } from './table.ts'

const script = fileURLToPath(new URL('./engine/one.js', import.meta.url))
const CASE_TIMEOUT_MS = 240_000
const WAIT_MS = 10_000
const MIB = 1024 * 1024

/** Enough rollouts that a case lasts some seconds, few enough that the whole table takes minutes. */
const ROLLOUTS: Record<number, number> = { 1: 400, 32: 4_000, 256: 8_000, 1024: 8_000 }

async function measure(bench: EngineCase): Promise<EngineFigures> {
  const { stdout } = await execa(process.execPath, [script, JSON.stringify(bench)], {
    timeout: CASE_TIMEOUT_MS,
    stderr: 'inherit',
  })
  return JSON.parse(stdout)
}

/** No-op rollouts through the whole engine beside the plain version, at each width, and 4,096 that wait 10 s each. */
export async function engineBench({ quick }: { readonly quick: boolean }): Promise<BenchTable> {
  const rows: BenchTable['rows'][number][] = []
  for (const width of quick ? [32, 256] : [1, 32, 256, 1_024]) {
    const rollouts = Math.ceil((ROLLOUTS[width] ?? 4_000) / (quick ? 4 : 1))
    const of = (kind: EngineCase['kind']) => measure({ kind, width, rollouts, waitMs: 0 })
    const plain = await of('plain')
    rows.push(...rowsOf(`plain, ${width} wide`, plain, undefined, {}))
    rows.push(
      ...rowsOf(`TCP each, ${width} wide`, await of('each'), plain, width === 256 ? { cpuMs: 0.5, overPlain: 3 } : {}),
    )
    const shared = await of('multiplexed')
    const loop = width >= 256 ? { loopP99Ms: 10, loopMaxMs: 50 } : {}
    rows.push(
      ...rowsOf(`multiplexed, ${width} wide`, shared, plain, {
        ...(width === 256 ? { cpuMs: 0.3, overPlain: 3 } : {}),
        ...loop,
      }),
    )
  }
  const width = quick ? 1_024 : 4_096
  for (const [kind, limit] of [
    ['each', 1.15],
    ['multiplexed', 1.1],
  ] as const)
    rows.push(...waitingRows(kind, width, await measure({ kind, width, rollouts: width, waitMs: WAIT_MS }), limit))
  if (!quick)
    rows.push(
      ...waitingRows(
        'plain',
        width,
        await measure({ kind: 'plain', width, rollouts: width, waitMs: WAIT_MS }),
        undefined,
      ),
    )
  return { title: 'engine: no-op rollouts, 75 KB journaled each', rows }
}

interface Aims {
  readonly cpuMs?: number
  readonly overPlain?: number
  readonly loopP99Ms?: number
  readonly loopMaxMs?: number
}

function rowsOf(
  name: string,
  figures: EngineFigures,
  plain: EngineFigures | undefined,
  aims: Aims,
): BenchTable['rows'] {
  const { engineCpuMs, hostCpuMs, perSecond, loopP99Ms, loopMaxMs, peakRssBytes } = figures
  const against = plain === undefined ? {} : { reference: 'plain', ratio: plain.engineCpuMs / engineCpuMs }
  const cpuAims = [
    ...(aims.cpuMs === undefined ? [] : [{ text: `≤ ${aims.cpuMs} ms`, met: engineCpuMs <= aims.cpuMs }]),
    ...(aims.overPlain === undefined || plain === undefined
      ? []
      : [{ text: `≥ ${aims.overPlain} × below plain`, met: plain.engineCpuMs / engineCpuMs >= aims.overPlain }]),
  ]
  return [
    {
      name,
      value: perSecond,
      unit: 'rollouts/s',
      ...(plain === undefined ? {} : { reference: 'plain', ratio: perSecond / plain.perSecond }),
    },
    { name: '  engine CPU', value: engineCpuMs, unit: 'ms a rollout', ...against, ...withAim(cpuAims) },
    { name: '  host CPU', value: hostCpuMs, unit: 'ms a rollout' },
    { name: '  main-loop delay p99', value: loopP99Ms, unit: 'ms', ...limit(loopP99Ms, aims.loopP99Ms) },
    { name: '  longest main block', value: loopMaxMs, unit: 'ms', ...limit(loopMaxMs, aims.loopMaxMs) },
    { name: '  peak RSS', value: peakRssBytes / MIB, unit: 'MiB' },
  ]
}

function waitingRows(
  kind: EngineCase['kind'],
  width: number,
  figures: EngineFigures,
  aim: number | undefined,
): BenchTable['rows'] {
  const makespan = figures.wallMs / WAIT_MS
  return [
    {
      name: `${width} waiting 10 s, ${kind}`,
      value: makespan,
      unit: '× 10 s',
      ...(aim === undefined ? {} : { aim: `≤ ${aim}`, met: makespan <= aim }),
    },
    {
      name: '  peak RSS',
      value: figures.peakRssBytes / MIB,
      unit: 'MiB',
      ...(aim === undefined ? {} : limit(figures.peakRssBytes / MIB, 450)),
    },
    { name: '  of it without mapped journal pages', value: figures.peakOwnBytes / MIB, unit: 'MiB' },
    { name: '  longest main block', value: figures.loopMaxMs, unit: 'ms' },
  ]
}

function limit(value: number, aim: number | undefined) {
  return aim === undefined ? {} : { aim: `< ${aim}`, met: value < aim }
}

function withAim(aims: readonly { readonly text: string; readonly met: boolean }[]) {
  return aims.length === 0 ? {} : { aim: aims.map(({ text }) => text).join(', '), met: aims.every(({ met }) => met) }
}
