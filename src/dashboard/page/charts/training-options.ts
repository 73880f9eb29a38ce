import type { EChartsOption } from 'echarts'
import type { EvaluationRecord, StepRecord } from '../../../training/records.ts'
import { wilson } from '../model/interval.ts'
import { LINE_SYMBOLS } from '../palette.ts'
import { decimal, percent } from '../words.ts'
import { base, risingAxis, valueAxis } from './axes.ts'
import { type Ink, lineColour } from './ink.ts'

/** A pass rate with its 95 % interval; `at`: training steps that were over before its runs. */
export interface RatePoint {
  readonly at: number
  readonly rate: number
  readonly low: number
  readonly high: number
  readonly runs: number
  readonly solved: number
}

/** What is drawn, and what the table behind it says: both are made of this. */
export interface Curves {
  readonly train: readonly RatePoint[]
  readonly splits: readonly { readonly split: string; readonly points: readonly RatePoint[] }[]
}

export function toCurves(steps: readonly StepRecord[], evaluations: readonly EvaluationRecord[]): Curves {
  const splits = [...new Set(evaluations.map(({ split }) => split))]
  return {
    train: steps.map(step => toPoint(step.step, step)),
    splits: splits.map(split => ({
      split,
      points: evaluations.filter(each => each.split === split).map(each => toPoint(each.afterSteps, each)),
    })),
  }
}

function toPoint(at: number, { runs, solved, passRate }: Pick<StepRecord, 'runs' | 'solved' | 'passRate'>): RatePoint {
  const [low, high] = wilson(solved, runs)
  return { at, rate: passRate, low, high, runs, solved }
}

/** Pass rate of each step's rollouts with its interval as a band, and of held-out tasks as points with bars. */
export function passRateOption({ train, splits }: Curves, ink: Ink): EChartsOption {
  const colour = lineColour(ink, 0)
  const hidden = { type: 'line', stack: 'interval', silent: true, symbol: 'none', lineStyle: { opacity: 0 } } as const
  return {
    ...base(ink),
    legend: { ...base(ink).legend, data: ['train', ...splits.map(({ split }) => split)] },
    tooltip: { ...base(ink).tooltip, trigger: 'item', formatter: tellRate },
    xAxis: valueAxis({ name: 'training steps taken' }, ink, { minInterval: 1, min: 0 }),
    yAxis: risingAxis({ name: '', format: value => percent(value, 0) }, ink, { min: 0, max: 1, interval: 0.2 }),
    series: [
      { ...hidden, id: 'low', data: train.map(({ at, low }) => [at, low]) },
      {
        ...hidden,
        id: 'band',
        data: train.map(({ at, low, high }) => [at, high - low]),
        areaStyle: { color: colour, opacity: 0.16 },
      },
      {
        id: 'train',
        name: 'train',
        type: 'line',
        symbol: 'circle',
        symbolSize: 6,
        showAllSymbol: train.length < 60,
        itemStyle: { color: colour },
        lineStyle: { color: colour, width: 2 },
        data: train.map(({ at, rate }) => [at, rate]),
      },
      ...splits.flatMap(({ split, points }, index) => heldOut(split, points, index + 1, ink)),
    ],
  }
}

function heldOut(
  split: string,
  points: readonly RatePoint[],
  index: number,
  ink: Ink,
): NonNullable<EChartsOption['series']> & object[] {
  const colour = lineColour(ink, index)
  return [
    {
      id: `split ${split}`,
      name: split,
      type: 'line',
      symbol: LINE_SYMBOLS[index % LINE_SYMBOLS.length] ?? 'rect',
      symbolSize: 10,
      itemStyle: { color: colour },
      lineStyle: { color: colour, width: 1.5, type: 'dashed' },
      data: points.map(({ at, rate }) => [at, rate]),
      markLine: {
        silent: true,
        symbol: 'none',
        label: { show: false },
        lineStyle: { color: colour, width: 2, type: 'solid' },
        data: points.map(({ at, low, high }) => [{ coord: [at, low] }, { coord: [at, high] }]),
      },
    },
  ]
}

/** One figure of each step as a line; steps without it leave a gap. */
export function stepLineOption(
  steps: readonly StepRecord[],
  line: {
    readonly name: string
    readonly colour: number
    readonly fromZero: boolean
    readonly of: (step: StepRecord) => number | null
  },
  ink: Ink,
): EChartsOption {
  const colour = lineColour(ink, line.colour)
  return {
    ...base(ink),
    legend: { show: false },
    grid: { left: 8, right: 18, top: 14, bottom: 26, containLabel: true },
    xAxis: valueAxis({ name: 'step' }, ink, { minInterval: 1, min: 1 }),
    yAxis: risingAxis({ name: '' }, ink, line.fromZero ? { min: 0 } : { scale: true }),
    tooltip: { ...base(ink).tooltip, valueFormatter: value => (typeof value === 'number' ? decimal(value, 3) : '–') },
    series: [
      {
        id: line.name,
        name: line.name,
        type: 'line',
        symbol: LINE_SYMBOLS[line.colour] ?? 'circle',
        symbolSize: 6,
        itemStyle: { color: colour },
        lineStyle: { color: colour, width: 2 },
        data: steps.map(step => [step.step + 1, line.of(step) ?? '-']),
      },
    ],
  }
}

function tellRate(params: unknown): string {
  const { seriesName, value } = params as { seriesName: string; value: readonly [number, number] }
  return `${seriesName}, after ${value[0]} steps: ${percent(value[1])}`
}
