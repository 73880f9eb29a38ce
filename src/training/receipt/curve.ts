import { CustomChart, LineChart } from 'echarts/charts'
import { GridComponent, LegendComponent, TitleComponent } from 'echarts/components'
import { init, use } from 'echarts/core'
import { LabelLayout } from 'echarts/features'
import { SVGRenderer } from 'echarts/renderers'
import { toPlainSvg } from '../../report/plain-svg.ts'
import { toCurves } from './curves.ts'
import { drawHeldOut, drawTrain, INK, QUIET, type SeriesOption } from './marks.ts'
import { isPublishedTask, PUBLISHED, publishedSteps } from './published.ts'
import type { Receipt } from './receipt.ts'

use([CustomChart, LineChart, GridComponent, LegendComponent, TitleComponent, LabelLayout, SVGRenderer])

const WIDTH = 920
const HEIGHT = 560
/** Without quotes, which the renderer would not escape. */
const FONT = 'system-ui, Helvetica, Arial, sans-serif'
/** One for each split, in the order they first appear. */
const SPLIT_COLOURS = ['#d1495b', '#2f855a', '#8a5cb8', '#b7791f']
const TRAIN_COLOUR = '#2b6cb0'
/** What the published series are called beside ours. */
const BESIDE = ', published'
/** Share of the axis left free before step 0, for the figures at the start. */
const LEAD = 0.09

/**
 * `train_curve.svg`: pass rates over training steps with 95 % intervals, with the published run under them in grey where
 * it was of the same tasks. Drawn on a
 * background of its own, so that it reads the same in a light and a dark viewer. The same receipt gives the same bytes.
 */
export function drawCurve(receipt: Receipt): string {
  const { train, splits, lastStep } = toCurves(receipt)
  const series = [
    ...(isPublishedTask(receipt.name) ? drawPublished() : []),
    ...drawTrain({ name: 'train', colour: TRAIN_COLOUR, points: train }),
    ...splits.flatMap(({ split, points }, index) =>
      drawHeldOut({ name: split, colour: SPLIT_COLOURS[index % SPLIT_COLOURS.length] ?? INK, points }),
    ),
  ]
  const chart = init(null, null, { renderer: 'svg', ssr: true, width: WIDTH, height: HEIGHT })
  try {
    chart.setOption({
      animation: false,
      backgroundColor: '#ffffff',
      textStyle: { fontFamily: FONT },
      title: toTitle(receipt),
      grid: { left: 76, right: 72, top: 92, bottom: 104 },
      legend: toLegend(series),
      xAxis: toStepAxis(Math.max(1, lastStep, isPublishedTask(receipt.name) ? PUBLISHED.rows.length : 0)),
      yAxis: RATE_AXIS,
      series,
    })
    return toPlainSvg(chart.renderToSVGString(), titleOf(receipt))
  } finally {
    chart.dispose()
  }
}

function drawPublished(): readonly SeriesOption[] {
  const train = publishedSteps().map(row => ({ at: row.step, rate: row.pass_rate }))
  const heldOut = PUBLISHED.heldOut.map(({ afterSteps, passRate }) => ({ at: afterSteps, rate: passRate }))
  return [
    ...drawTrain({ name: `train${BESIDE}`, colour: QUIET, points: train, quiet: true }),
    ...drawHeldOut({ name: `held-out${BESIDE}`, colour: QUIET, points: heldOut, quiet: true }),
  ]
}

function toTitle({ name, model, trainer, seed, steps }: Receipt): object {
  const [first] = steps
  const grey = isPublishedTask(name) ? `; grey: the published run, ${PUBLISHED.model}` : ''
  const shape = first === undefined ? '' : `, ${first.planned_groups} groups, ${first.runs} runs a step`
  return {
    left: 24,
    top: 18,
    text: titleOf({ name, model }),
    subtext: `${trainer} trainer, seed ${seed}${shape}; bars: 95 % intervals${grey}`,
    textStyle: { color: INK, fontSize: 18, fontWeight: 600, fontFamily: FONT },
    subtextStyle: { color: '#5f6b7a', fontSize: 13, fontFamily: FONT },
  }
}

function titleOf({ name, model }: Pick<Receipt, 'name' | 'model'>): string {
  return `${name}: pass rate while ${model} trains`
}

/** Ours first: what lies under is drawn first, but read last. */
function toLegend(series: readonly SeriesOption[]): object {
  const lines = series.filter(each => each.type === 'line')
  const published = lines.filter(({ name }) => name.endsWith(BESIDE))
  return {
    bottom: 14,
    left: 'center',
    width: 760,
    itemGap: 22,
    itemWidth: 30,
    textStyle: { color: '#3d4756', fontSize: 13, fontFamily: FONT },
    data: [...lines.filter(each => !published.includes(each)), ...published].map(({ name }) => name),
  }
}

function toStepAxis(last: number): object {
  const every = Math.max(1, Math.ceil(last / 20))
  const steps = Array.from({ length: Math.floor(last / every) + 1 }, (_, index) => index * every)
  return {
    type: 'value',
    name: 'training steps taken',
    nameLocation: 'middle',
    nameGap: 32,
    nameTextStyle: { color: '#3d4756', fontSize: 13, fontFamily: FONT },
    min: -LEAD * last,
    max: last,
    splitLine: { show: false },
    axisLine: { onZero: false, lineStyle: { color: '#9aa5b1' } },
    axisTick: { customValues: steps, lineStyle: { color: '#9aa5b1' } },
    axisLabel: { customValues: steps, color: '#5f6b7a', fontSize: 12, fontFamily: FONT },
  }
}

const RATE_AXIS = {
  type: 'value',
  name: 'pass rate',
  nameLocation: 'middle',
  nameGap: 52,
  nameTextStyle: { color: '#3d4756', fontSize: 13, fontFamily: FONT },
  axisLine: { show: false },
  axisTick: { show: false },
  min: 0,
  max: 100,
  interval: 20,
  splitLine: { lineStyle: { color: '#e8ecf0' } },
  axisLabel: { color: '#5f6b7a', fontSize: 12, fontFamily: FONT, formatter: '{value} %' },
}
