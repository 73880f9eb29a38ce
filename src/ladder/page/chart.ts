import { BarChart, CustomChart, LineChart } from 'echarts/charts'
import { GridComponent, TitleComponent } from 'echarts/components'
import { init, use } from 'echarts/core'
import { LabelLayout } from 'echarts/features'
import { SVGRenderer } from 'echarts/renderers'
import { toPlainSvg } from '../../report/plain-svg.ts'
import { escapeText } from './words.ts'

use([BarChart, CustomChart, LineChart, GridComponent, TitleComponent, LabelLayout, SVGRenderer])

/** Without quotes, which the renderer would not escape. */
export const FONT = 'system-ui, -apple-system, Segoe UI, Helvetica, Arial, sans-serif'
export const INK = '#1f2933'
export const QUIET = '#5f6b7a'
export const AXIS = '#9aa5b1'
export const GRID = '#e4e8ec'
export const PAPER = '#ffffff'

export interface ChartWords {
  /** Part of the ids in it: pictures of one page must not share them. */
  readonly id: string
  readonly title: string
  /** What there is to be seen, for those who cannot. */
  readonly description: string
}

/** An SVG of so many pixels, without animation, style or script. The same option gives the same bytes. */
export function drawChart(
  option: object,
  width: number,
  height: number,
  { id, title, description }: ChartWords,
): string {
  const chart = init(null, null, { renderer: 'svg', ssr: true, width, height })
  try {
    chart.setOption({ animation: false, textStyle: { fontFamily: FONT }, ...option })
    return toPlainSvg(chart.renderToSVGString(), title)
      .replaceAll('curve-', `${id}-`)
      .replace('</title>', () => `</title>\n<desc>${escapeText(description)}</desc>`)
  } finally {
    chart.dispose()
  }
}

export interface AxisStyle {
  readonly name: string
  readonly fontSize: number
  /** Of the picture's inner part. */
  readonly pixels: number
}

/** Widths stand apart by how many times wider they are; each measured one has its tick, if there is room. */
export function toWidthAxis(widths: readonly number[], { name, fontSize, pixels }: AxisStyle): object {
  const [first = 0, last = 0] = [widths.at(0), widths.at(-1)].map(width => Math.log2(width ?? 1))
  const margin = Math.max(0.25, (last - first) * 0.04)
  const room = ((last - first + 2 * margin) * fontSize * 2.4) / pixels
  const at: number[] = []
  // From the widest on, which is the one that matters most.
  for (const width of widths.toReversed().map(width => Math.log2(width)))
    if (at[0] === undefined || at[0] - width >= room) at.unshift(width)
  return {
    type: 'value',
    name,
    nameLocation: 'middle',
    nameGap: fontSize + 18,
    nameTextStyle: { color: QUIET, fontSize, fontFamily: FONT },
    min: first - margin,
    max: last + margin,
    splitLine: { show: false },
    axisLine: { show: true, onZero: false, lineStyle: { color: AXIS } },
    axisTick: { show: true, customValues: at, lineStyle: { color: AXIS } },
    axisLabel: {
      customValues: at,
      color: QUIET,
      fontSize,
      fontFamily: FONT,
      formatter: (value: number) => String(Math.round(2 ** value)),
    },
  }
}
