import { LineChart, ScatterChart } from 'echarts/charts'
import { GridComponent, LegendComponent, TitleComponent } from 'echarts/components'
import { init, use } from 'echarts/core'
import { SVGRenderer } from 'echarts/renderers'
import { toPlainSvg } from '../report/plain-svg.ts'
import { toName } from './candidates.ts'
import type { Evaluated } from './evaluate.ts'
import { STRATEGIES, type Strategy } from './request.ts'
import type { TuneResult } from './tune.ts'

use([LineChart, ScatterChart, GridComponent, LegendComponent, TitleComponent, SVGRenderer])

const WIDTH = 920
const HEIGHT = 560
/** Without quotes, which the renderer would not escape. */
const FONT = 'system-ui, Helvetica, Arial, sans-serif'
const INK = '#1f2933'
const QUIET = '#5f6b7a'
const COLOURS: Readonly<Record<Strategy, string>> = {
  cold: '#5f6b7a',
  fork: '#b7791f',
  'provider-pool': '#8a5cb8',
  prewarm: '#2b6cb0',
  'prewarm+fork': '#2f855a',
}

/** `curve.svg`: a step's latency over what a plan keeps idle, all plans that were looked at. The same result gives the same bytes. */
export function drawTuneCurve(result: TuneResult): string {
  const { evaluated, front, chosen, knee } = result
  const title = `Step latency against idle sandboxes: ${toName(chosen.candidate)} chosen`
  const series = [
    line('no better one seen', front),
    ...STRATEGIES.flatMap(strategy => {
      const own = evaluated.filter(({ candidate }) => candidate.strategy === strategy)
      return own.length === 0 ? [] : [points(strategy, COLOURS[strategy], own, 8)]
    }),
    ...(knee === undefined || knee === chosen ? [] : [mark('knee', '#d1495b', knee, 'diamond', 'bottom')]),
    mark(knee === chosen ? 'chosen, and the knee' : 'chosen', INK, chosen, 'circle', 'top'),
  ]
  const chart = init(null, null, { renderer: 'svg', ssr: true, width: WIDTH, height: HEIGHT })
  try {
    chart.setOption({
      animation: false,
      backgroundColor: '#ffffff',
      textStyle: { fontFamily: FONT },
      title: { left: 24, top: 18, text: title, subtext: toSubtext(result), ...TITLE_STYLE },
      grid: { left: 84, right: 56, top: 92, bottom: 108 },
      legend: { bottom: 14, left: 'center', width: 800, itemGap: 20, textStyle: { color: QUIET, fontSize: 13 } },
      xAxis: {
        type: 'log',
        name: 'idle sandbox-seconds a step',
        ...MIDDLE,
        nameGap: 32,
        ...LINES,
        ...toRange(evaluated),
      },
      yAxis: { type: 'value', name: 'step latency, s', ...MIDDLE, nameGap: 56, scale: true, ...LINES },
      series,
    })
    return toPlainSvg(chart.renderToSVGString(), title)
  } finally {
    chart.dispose()
  }
}

const TITLE_STYLE = {
  textStyle: { color: INK, fontSize: 18, fontWeight: 600, fontFamily: FONT },
  subtextStyle: { color: QUIET, fontSize: 13, fontFamily: FONT },
}
const MIDDLE = { nameLocation: 'middle', nameTextStyle: { color: QUIET, fontSize: 13, fontFamily: FONT } }
const LINES = {
  splitLine: { lineStyle: { color: '#e8ecf0' } },
  axisLine: { lineStyle: { color: '#9aa5b1' } },
  axisLabel: { color: QUIET, fontSize: 12, fontFamily: FONT, showMinLabel: false, showMaxLabel: false },
}

function toSubtext({ request }: TuneResult): string {
  const { job, model, seed, repetitions } = request
  return `${job.rollouts} rollouts a step in groups of ${job.group}, ${model.source}; means of ${repetitions} seeds from ${seed}`
}

const place = ({ idleSeconds, stepMs }: Evaluated) => [Math.max(1, idleSeconds.mean), stepMs.mean / 1_000]

function line(name: string, all: readonly Evaluated[]): object {
  return {
    type: 'line',
    name,
    data: all.map(place),
    symbol: 'none',
    silent: true,
    itemStyle: { color: '#9aa5b1' },
    lineStyle: { color: '#9aa5b1', width: 1.5, type: 'dashed' },
  }
}

function points(name: string, color: string, all: readonly Evaluated[], symbolSize: number): object {
  return { type: 'scatter', name, data: all.map(place), symbolSize, silent: true, itemStyle: { color, opacity: 0.8 } }
}

function mark(name: string, color: string, at: Evaluated, symbol: string, position: 'top' | 'bottom'): object {
  return {
    type: 'scatter',
    name,
    data: [place(at)],
    symbol,
    symbolSize: 18,
    silent: true,
    itemStyle: { color: 'transparent', borderColor: color, borderWidth: 2.5 },
    label: { show: true, position, distance: 8, color, fontSize: 12, formatter: toName(at.candidate) },
    z: 6,
  }
}

/** Whole powers of ten would leave most of the axis empty. */
function toRange(all: readonly Evaluated[]): { readonly min: number; readonly max: number } {
  const idle = all.map(each => Math.max(1, each.idleSeconds.mean))
  return { min: Math.floor(Math.min(...idle) * 0.85), max: Math.ceil(Math.max(...idle) * 1.2) }
}
