import { BarChart, LineChart } from 'echarts/charts'
import { GridComponent, LegendComponent, MarkAreaComponent, TitleComponent } from 'echarts/components'
import { init, use } from 'echarts/core'
import { SVGRenderer } from 'echarts/renderers'
import { toPlainSvg } from '../report/plain-svg.ts'
import type { MomentRow } from './columns.ts'
import { gather } from './median.ts'

use([BarChart, LineChart, GridComponent, LegendComponent, MarkAreaComponent, TitleComponent, SVGRenderer])

/** What is drawn: a time line above, bars below. */
export interface PoolPicture {
  readonly title: string
  readonly subtitle: string
  readonly moments: readonly MomentRow[]
  /** Seconds until half, and 95 %, of a level were usable. */
  readonly bars: readonly { readonly name: string; readonly p50: number | null; readonly p95: number | null }[]
}

const WIDTH = 960
const HEIGHT = 760
/** Without quotes, which the renderer would not escape. */
const FONT = 'system-ui, Helvetica, Arial, sans-serif'
const INK = '#1f2933'
const QUIET = '#5f6b7a'
/** From the bottom up. */
const LAYERS = [
  ['held_parents', 'kept to be forked', '#8a5cb8'],
  ['ready', 'ready', '#2f855a'],
  ['provider_ready', 'unclaimed at the provider', '#68a98a'],
  ['creating', 'being made', '#d69e2e'],
  ['leased', 'leased', '#2b6cb0'],
  ['deleting', 'deleting', '#a0aec0'],
] as const
const P50 = '#2b6cb0'
const P95 = '#a3c4e8'

/** The same picture gives the same bytes. */
export function drawPoolPicture({ title, subtitle, moments, bars }: PoolPicture): string {
  const chart = init(null, null, { renderer: 'svg', ssr: true, width: WIDTH, height: HEIGHT })
  const layers = LAYERS.filter(([figure]) => moments.some(moment => (moment[figure] ?? 0) > 0)).map(toNamed(moments))
  try {
    chart.setOption({
      animation: false,
      backgroundColor: '#ffffff',
      textStyle: { fontFamily: FONT },
      title: [
        { left: 24, top: 16, text: title, subtext: subtitle, ...TITLE_STYLE },
        { left: 24, top: 478, text: 'Seconds until usable', textStyle: { ...TITLE_STYLE.textStyle, fontSize: 15 } },
      ],
      grid: [
        { left: 72, right: 36, top: 132, height: 260 },
        { left: 72, right: 36, top: 522, height: 170 },
      ],
      legend: [
        { top: 440, left: 'center', data: layers.map(([, name]) => name), ...LEGEND },
        { bottom: 10, left: 'center', data: ['half of them (p50)', '95 % of them (p95)'], ...LEGEND },
      ],
      xAxis: [
        {
          type: 'value',
          gridIndex: 0,
          name: 'seconds',
          ...MIDDLE,
          nameGap: 26,
          ...LINES,
          splitLine: { show: false },
          max: 'dataMax',
          axisLabel: { ...LINES.axisLabel, showMaxLabel: false },
        },
        { type: 'category', gridIndex: 1, data: bars.map(({ name }) => name), ...LINES, axisTick: { show: false } },
      ],
      yAxis: [
        { type: 'value', gridIndex: 0, name: 'sandboxes', ...MIDDLE, nameGap: 46, minInterval: 1, ...LINES },
        { type: 'value', gridIndex: 1, ...LINES },
      ],
      series: [
        ...layers.map(([figure, name, color], index) => ({
          ...area(name, color),
          data: moments.map(moment => [moment.at_s ?? 0, moment[figure] ?? 0]),
          ...(index === 0 ? { markArea: toStretches(moments) } : {}),
        })),
        bar(
          'half of them (p50)',
          P50,
          bars.map(({ p50 }) => p50),
        ),
        bar(
          '95 % of them (p95)',
          P95,
          bars.map(({ p95 }) => p95),
        ),
      ],
    })
    return toPlainSvg(chart.renderToSVGString(), title)
  } finally {
    chart.dispose()
  }
}

/** With a provider's pool, what the engine waits for is mostly there already. */
const toNamed =
  (moments: readonly MomentRow[]) =>
  ([figure, name, color]: (typeof LAYERS)[number]) => {
    const isClaiming = figure === 'creating' && moments.some(moment => moment.provider_ready !== undefined)
    return [figure, isClaiming ? 'being made or claimed' : name, color] as const
  }

const TITLE_STYLE = {
  textStyle: { color: INK, fontSize: 18, fontWeight: 600, fontFamily: FONT },
  subtextStyle: { color: QUIET, fontSize: 13, fontFamily: FONT },
}
const LEGEND = { itemGap: 30, icon: 'roundRect', textStyle: { color: QUIET, fontSize: 13, fontFamily: FONT } }
const MIDDLE = { nameLocation: 'middle', nameTextStyle: { color: QUIET, fontSize: 13, fontFamily: FONT } }
const LINES = {
  splitLine: { lineStyle: { color: '#e8ecf0' } },
  axisLine: { lineStyle: { color: '#9aa5b1' } },
  axisLabel: { color: QUIET, fontSize: 12, fontFamily: FONT },
}

const area = (name: string, color: string) => ({
  type: 'line',
  name,
  stack: 'held',
  step: 'end',
  symbol: 'none',
  silent: true,
  xAxisIndex: 0,
  yAxisIndex: 0,
  itemStyle: { color },
  lineStyle: { width: 0 },
  areaStyle: { color, opacity: 0.85 },
})

const bar = (name: string, color: string, seconds: readonly (number | null)[]) => ({
  type: 'bar',
  name,
  xAxisIndex: 1,
  yAxisIndex: 1,
  silent: true,
  barMaxWidth: 44,
  itemStyle: { color },
  data: seconds.map(value => value ?? '-'),
  label: {
    show: true,
    position: 'top',
    color: INK,
    fontSize: 11,
    fontFamily: FONT,
    formatter: ({ value }: { readonly value: unknown }) => (typeof value === 'number' ? value.toFixed(2) : ''),
  },
})

/** Every other stretch is shaded; each has its name above, in two heights, so that narrow neighbours can be read. */
function toStretches(moments: readonly MomentRow[]): object {
  const stretches = [...gather(moments, ({ during }) => during)]
  return {
    silent: true,
    data: stretches.map(([name, own], index) => [
      {
        name,
        xAxis: own[0]?.at_s ?? 0,
        itemStyle: { color: index % 2 === 0 ? 'rgba(95,107,122,0.10)' : 'rgba(95,107,122,0.02)' },
        label: { position: 'top', distance: index % 2 === 0 ? 4 : 20, color: QUIET, fontSize: 11, fontFamily: FONT },
      },
      { xAxis: stretches[index + 1]?.[1][0]?.at_s ?? own.at(-1)?.at_s ?? 0 },
    ]),
  }
}
