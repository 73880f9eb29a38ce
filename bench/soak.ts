import { fileURLToPath } from 'node:url'
import { execa } from 'execa'
import type { Given } from './given.ts'
import type { SoakCase, SoakFigures } from './soak/one.ts'
import type { Sample } from './soak/sample.ts'
import { fitLine, grows } from './soak/slope.ts'
import type { BenchRow, BenchTable } from './table.ts'

const script = fileURLToPath(new URL('./soak/one.js', import.meta.url))
const DEADLINE_MS = 30 * 60_000
const WIDTH = 512
const MIB = 1024 * 1024
/** Slopes are for so many rollouts. */
const UNIT = 10_000
/** Before this share of the rollouts code is compiled, and pools and heaps take their size: those of threads take about 200,000. */
const WARM_UP = 0.5
const MAX_DRIFT = 0.1

/** What may be gained from the warm-up to the end of all rollouts, whatever the error of a slope is. */
const SMALL = { memoryMib: 4, handles: 8 } as const

/** Rollouts that do nothing, on the real engine with faults at a low rate: what grows, and whether it slows down. */
export async function soakBench({ quick, seed = '1', signal }: Given): Promise<BenchTable> {
  const soakCase: SoakCase = {
    rollouts: quick ? 3_072 : 401_408,
    width: WIDTH,
    seed: Number(seed),
    sampleEvery: quick ? 128 : 512,
    hostKillEvery: quick ? 1_000 : 5_000,
  }
  const { stdout } = await execa(process.execPath, ['--expose-gc', script, JSON.stringify(soakCase)], {
    timeout: DEADLINE_MS,
    stderr: 'inherit',
    ...(signal === undefined ? {} : { cancelSignal: signal }),
  })
  return toTable(soakCase, JSON.parse(stdout))
}

/** What the samples say. */
export function toTable({ rollouts, width, seed }: SoakCase, figures: SoakFigures): BenchTable {
  const { planned, delivered, durable, hostKills, left, outcomes, samples, wrongRewards } = figures
  // Less is in flight at the very end, where the last ones that hang are waited for.
  const warm = samples.filter(({ rollouts: ended }) => ended >= WARM_UP * rollouts && ended <= rollouts - width)
  const rate = (part: readonly Sample[]) => {
    const [first, last] = [part[0], part.at(-1)]
    if (first === undefined || last === undefined) return Number.NaN
    return ((last.rollouts - first.rollouts) / (last.atMs - first.atMs)) * 1_000
  }
  const third = Math.floor(warm.length / 3)
  const [early, late] = [rate(warm.slice(0, third + 1)), rate(warm.slice(-third - 1))]
  const drift = late / early - 1
  const failed = Object.entries(outcomes).filter(([outcome]) => outcome !== 'graded')
  const lost = planned - delivered + (planned - durable)
  return {
    title: `soak: ${delivered} rollouts, ${width} wide, seed ${seed}; ${failed.map(([outcome, count]) => `${count} ${outcome}`).join(', ')}; host killed ${hostKills} times`,
    rows: [
      slopeRow('own memory', warm, sample => sample.ownBytes / MIB, 'MiB', SMALL.memoryMib),
      slopeRow('main heap and buffers', warm, sample => sample.heapBytes / MIB, 'MiB', SMALL.memoryMib),
      slopeRow("threads' heaps and buffers", warm, sample => sample.threadBytes / MIB, 'MiB', SMALL.memoryMib),
      slopeRow('handles', warm, sample => sample.handles, 'handles', SMALL.handles),
      slopeRow('descriptors', warm, sample => sample.descriptors, 'descriptors', SMALL.handles),
      { name: 'RSS at the end, mapped journal included', value: (samples.at(-1)?.rssBytes ?? 0) / MIB, unit: 'MiB' },
      { name: 'rollouts, first third', value: early, unit: '/s' },
      { name: 'rollouts, last third', value: late, unit: '/s', reference: 'first third', ratio: late / early },
      {
        name: 'drift',
        value: drift * 100,
        unit: '%',
        aim: `> -${MAX_DRIFT * 100} %`,
        met: drift > -MAX_DRIFT,
      },
      zeroRow('not delivered or not durable', lost, 'runs'),
      zeroRow('rewards without a grade, grades without a reward', wrongRewards, 'runs'),
      zeroRow(`left behind${left.length === 0 ? '' : `: ${left.join(', ')}`}`, left.length, 'things'),
    ],
  }
}

function slopeRow(
  name: string,
  samples: readonly Sample[],
  of: (sample: Sample) => number,
  unit: string,
  small: number,
): BenchRow {
  const line = fitLine(samples.map(sample => [sample.rollouts / UNIT, of(sample)]))
  const units = ((samples.at(-1)?.rollouts ?? 0) - (samples[0]?.rollouts ?? 0)) / UNIT
  const { slope, standardError } = line
  return {
    name: `${name}, slope`,
    value: slope,
    unit: `${unit} / ${UNIT} rollouts`,
    spread: 2 * standardError,
    aim: `≤ ${small} in all, or two standard errors`,
    met: !grows(line, small / units),
  }
}

function zeroRow(name: string, value: number, unit: string): BenchRow {
  return { name, value, unit, aim: '0', met: value === 0 }
}
