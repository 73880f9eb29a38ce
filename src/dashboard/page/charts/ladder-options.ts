import type { EChartsOption } from 'echarts'
import type { LadderPointReply } from '../../routes.ts'
import { LINE_SYMBOLS } from '../palette.ts'
import { base, risingAxis, valueAxis } from './axes.ts'
import { type Ink, lineColour } from './ink.ts'

/** Seconds until ready by width, one line a strategy: medians solid, 95th percentiles dashed. */
export function ladderOption(points: readonly LadderPointReply[], ink: Ink): EChartsOption {
  const strategies = strategiesOf(points)
  const widths = [...new Set(points.map(({ n }) => n))].sort((one, other) => one - other)
  return {
    ...base(ink),
    xAxis: {
      ...valueAxis({ name: 'asked for at once' }, ink),
      type: 'category',
      data: widths.map(String),
      boundaryGap: false,
    },
    yAxis: risingAxis({ name: '', format: value => `${Number(value.toPrecision(3))} s` }, ink, {
      type: isWide(points) ? 'log' : 'value',
      minorSplitLine: { show: false },
    }),
    tooltip: {
      ...base(ink).tooltip,
      valueFormatter: value => (typeof value === 'number' ? `${Number(value.toPrecision(3))} s` : '–'),
    },
    series: strategies.flatMap((strategy, index) => {
      const own = points.filter(point => point.strategy === strategy)
      const colour = lineColour(ink, index)
      const symbol = LINE_SYMBOLS[index % LINE_SYMBOLS.length] ?? 'circle'
      const line = (name: string, figure: 'ready_p50_s' | 'ready_p95_s', type: 'solid' | 'dashed') => ({
        id: name,
        name,
        type: 'line' as const,
        symbol: type === 'solid' ? symbol : hollow(symbol),
        symbolSize: 8,
        itemStyle: { color: colour },
        lineStyle: { color: colour, width: type === 'solid' ? 2 : 1.2, type },
        data: widths.map(width => own.find(({ n }) => n === width)?.figures[figure] ?? '-'),
      })
      return [line(strategy, 'ready_p50_s', 'solid'), line(`${strategy}, p95`, 'ready_p95_s', 'dashed')]
    }),
  }
}

/** The same shape, empty. */
function hollow(symbol: string): string {
  return `empty${symbol.charAt(0).toUpperCase()}${symbol.slice(1)}`
}

/** Strategies that are far apart are seen together on a logarithmic axis alone. */
function isWide(points: readonly LadderPointReply[]): boolean {
  const values = points.flatMap(({ figures }) => [figures.ready_p50_s ?? [], figures.ready_p95_s ?? []].flat())
  return Math.min(...values) > 0 && Math.max(...values) / Math.min(...values) > 30
}

/** In the order in which they are met. */
export function strategiesOf(points: readonly LadderPointReply[]): string[] {
  return [...new Set(points.map(({ strategy }) => strategy))]
}
