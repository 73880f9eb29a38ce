import { medianOf } from '../../../src/ladder/percentiles.ts'
import { type BenchRow, formatNumber } from '../../table.ts'
import { OURS, OURS_EACH, type RolloutMatch } from './run.ts'
import type { RolloutFigures } from './sides.ts'

const MIB = 2 ** 20
const CPU_AIM = 0.1

/** Rollouts a second, CPU, memory and loop delay of both, the peer's figure beside ours. */
export function toRolloutRows(matches: readonly RolloutMatch[]): readonly BenchRow[] {
  return matches.flatMap(match => [
    ...rowsOf(match, OURS_EACH),
    ...rowsOf(match, OURS).filter(({ unit }) => unit === 'rollouts/s' || unit === 'ms a rollout'),
  ])
}

function rowsOf({ peer, rollouts, width, figures }: RolloutMatch, side: string): readonly BenchRow[] {
  const median = (name: string, of: (figures: RolloutFigures) => number) => medianOf((figures.get(name) ?? []).map(of))
  const row = (name: string, unit: string, of: (figures: RolloutFigures) => number): BenchRow => {
    const value = median(side, of)
    const theirs = median(peer, of)
    return { name, value, unit, reference: `${peer} ${formatNumber(theirs)}`, ratio: value / theirs }
  }
  const withAim = (aimed: BenchRow): BenchRow => ({
    ...aimed,
    aim: `<= ${CPU_AIM} x`,
    met: (aimed.ratio ?? Number.NaN) <= CPU_AIM,
  })
  return [
    row(`${rollouts} no-op rollouts, ${width} wide, ${side}`, 'rollouts/s', ({ perSecond }) => perSecond),
    withAim(row('  CPU of the engine process', 'ms a rollout', ({ engineCpuMs }) => engineCpuMs)),
    withAim(row('  CPU with environment processes', 'ms a rollout', each => each.engineCpuMs + each.othersCpuMs)),
    row('  peak RSS, all processes', 'MiB a concurrent rollout', ({ peakBytes }) => peakBytes / MIB / width),
    row('  loop delay p99', 'ms', ({ loopP99Ms }) => loopP99Ms),
  ]
}
