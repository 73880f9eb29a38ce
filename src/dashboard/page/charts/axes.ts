import type { EChartsOption } from 'echarts'
import type { Ink } from './ink.ts'

const FONT = 'system-ui, -apple-system, Segoe UI, Roboto, Helvetica Neue, Arial, DejaVu Sans, sans-serif'

/** What all charts share: no animation, tooltips drawn and not made of HTML, so that a name is never taken for markup. */
export function base(ink: Ink): EChartsOption {
  return {
    animation: false,
    backgroundColor: 'transparent',
    textStyle: { fontFamily: FONT, color: ink.ink },
    grid: { left: 8, right: 18, top: 34, bottom: 26, containLabel: true },
    legend: {
      top: 0,
      left: 0,
      itemGap: 16,
      itemWidth: 22,
      itemHeight: 10,
      type: 'scroll',
      pageIconColor: ink.quiet,
      pageTextStyle: { color: ink.quiet },
      textStyle: { color: ink.quiet, fontSize: 12.5, fontFamily: FONT },
    },
    tooltip: {
      trigger: 'axis',
      renderMode: 'richText',
      confine: true,
      backgroundColor: ink.card,
      borderColor: ink.line,
      textStyle: { color: ink.ink, fontSize: 12.5, fontFamily: FONT },
    },
  }
}

interface AxisWords {
  readonly name: string
  readonly format?: (value: number) => string
}

export function valueAxis({ name, format }: AxisWords, ink: Ink, more: object = {}): object {
  return {
    type: 'value',
    name,
    nameLocation: 'middle',
    nameGap: 28,
    nameTextStyle: { color: ink.quiet, fontSize: 12.5 },
    axisLine: { show: true, onZero: false, lineStyle: { color: ink.line } },
    axisTick: { show: false },
    splitLine: { show: false },
    axisLabel: { color: ink.quiet, fontSize: 12, ...(format === undefined ? {} : { formatter: format }) },
    ...more,
  }
}

/** Its name is in the chart's title, so that it takes no room beside the figures. */
export function risingAxis({ name, format }: AxisWords, ink: Ink, more: object = {}): object {
  return valueAxis({ name, ...(format === undefined ? {} : { format }) }, ink, {
    nameLocation: 'end',
    nameGap: 10,
    nameTextStyle: { color: ink.quiet, fontSize: 12, align: 'left' },
    axisLine: { show: false },
    splitLine: { lineStyle: { color: ink.grid } },
    ...more,
  })
}
