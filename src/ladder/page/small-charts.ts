import type { LadderFigure } from '../../receipts/ladder-rows.ts'
import type { LadderPoint } from '../../receipts/over-repetitions.ts'
import type { Work } from '../level.ts'
import { AXIS, drawChart, FONT, GRID, QUIET, toWidthAxis } from './chart.ts'
import { toLook } from './strategies.ts'
import { toInline, toSwatch } from './style.ts'
import { byStrategy, pointsOf, type Views, widthsOf } from './view.ts'
import { escapeText, toMilliseconds } from './words.ts'

const SMALL_WIDTH = 260
const SMALL_HEIGHT = 180

/** A part of a stacked bar. */
export interface Part {
  readonly name: string
  readonly colour: string
  readonly column: LadderFigure
}

/** A part with what is said where it is all there is. */
export interface Kind extends Part {
  readonly all: string
}

export const STAGES: readonly Part[] = [
  { name: 'lease', colour: '#0b6aa8', column: 'lease_p50_ms' },
  { name: 'hello', colour: '#63b3e0', column: 'hello_p50_ms' },
  { name: 'start', colour: '#e2b33c', column: 'start_p50_ms' },
  { name: 'agent', colour: '#cf6a1a', column: 'agent_p50_ms' },
  { name: 'grade', colour: '#7b4f94', column: 'grade_p50_ms' },
]

export const KINDS: readonly Kind[] = [
  { name: 'hit: was ready', colour: '#0b6aa8', column: 'hits', all: 'were ready' },
  { name: 'claim: from the provider’s pool', colour: '#c26b9c', column: 'claims', all: 'were claimed from it' },
  { name: 'fork: of a running one', colour: '#cf6a1a', column: 'forks', all: 'were forked' },
  { name: 'cold: made anew', colour: '#8391a1', column: 'colds', all: 'were made anew' },
]

/** The parts that any of the points has. */
export const partsOf = <Each extends Part>(parts: readonly Each[], points: readonly LadderPoint[]): readonly Each[] =>
  parts.filter(({ column }) => points.some(point => (point.figure(column)?.median ?? 0) > 0))

interface Stacked {
  readonly id: string
  readonly points: readonly LadderPoint[]
  readonly parts: readonly Part[]
  /** As shares of the whole, instead of milliseconds. */
  readonly shares?: boolean
  readonly title: string
}

/** A bar for each width, of one strategy. */
export function drawStacked({ id, points, parts, shares = false, title }: Stacked): string {
  const bars = points.map(point => {
    const values = parts.map(({ column }) => point.figure(column)?.mean ?? 0)
    const whole = values.reduce((sum, value) => sum + value, 0)
    return shares ? values.map(value => (whole === 0 ? 0 : value / whole)) : values
  })
  const tell = (value: number) => (shares ? `${Math.round(value * 100)} %` : toMilliseconds(value))
  const description = points
    .map(
      ({ n }, bar) =>
        `${n} at once: ${parts.map(({ name }, part) => `${name} ${tell(bars[bar]?.[part] ?? 0)}`).join(', ')}.`,
    )
    .join(' ')
  return drawChart(
    {
      backgroundColor: 'transparent',
      grid: { left: 54, right: 4, top: 12, bottom: 28 },
      xAxis: {
        type: 'category',
        data: points.map(({ n }) => String(n)),
        axisLine: { lineStyle: { color: AXIS } },
        axisTick: { show: false },
        axisLabel: LABEL,
      },
      yAxis: {
        type: 'value',
        splitNumber: 3,
        ...(shares ? { max: 1, interval: 0.5 } : {}),
        splitLine: { lineStyle: { color: GRID } },
        axisLabel: { ...LABEL, formatter: tell },
      },
      series: parts.map(({ name, colour }, part) => ({
        type: 'bar',
        name,
        stack: 'all',
        data: bars.map(bar => bar[part]),
        itemStyle: { color: colour },
        barMaxWidth: 34,
        silent: true,
      })),
    },
    SMALL_WIDTH,
    SMALL_HEIGHT,
    { id, title, description },
  )
}

interface Lines {
  readonly id: string
  readonly column: LadderFigure
  readonly title: string
  /** How a value is told: `41 ms`. */
  readonly tell: (value: number) => string
  readonly least?: number
}

/** One figure by width, a line a strategy; empty where nobody measured it, or nothing of it reaches `least`. */
export function drawLines(views: Views, work: Work, { id, column, title, tell, least = 0 }: Lines): string {
  const points = pointsOf(views.own, work).filter(point => point.figure(column) !== undefined)
  const lines = byStrategy(points).filter(([, line]) => line.some(point => medianOf(point, column) >= least))
  if (lines.length === 0) return ''
  const description = lines
    .map(([strategy, line]) => {
      const values = line.map(point => `${point.n} at once ${tell(medianOf(point, column))}`)
      return `${toLook(strategy, views.strategies).name}: ${values.join(', ')}.`
    })
    .join(' ')
  return drawChart(
    {
      backgroundColor: 'transparent',
      grid: { left: 54, right: 8, top: 12, bottom: 28 },
      xAxis: toWidthAxis(widthsOf(points), { name: '', fontSize: LABEL.fontSize, pixels: SMALL_WIDTH - 62 }),
      yAxis: {
        type: 'value',
        min: 0,
        axisLine: { show: false },
        axisTick: { show: false },
        splitNumber: 3,
        splitLine: { lineStyle: { color: GRID } },
        axisLabel: { ...LABEL, formatter: tell },
      },
      series: lines.map(([strategy, line]) => {
        const { name, colour, symbol } = toLook(strategy, views.strategies)
        return {
          type: 'line',
          name,
          data: line.map(point => [Math.log2(point.n), medianOf(point, column)]),
          symbol,
          symbolSize: 8,
          itemStyle: { color: colour },
          lineStyle: { color: colour, width: 2 },
          silent: true,
        }
      }),
    },
    SMALL_WIDTH,
    SMALL_HEIGHT,
    { id, title, description },
  )
}

/** A picture with its name, as one of several beside each other. */
export function toFigureBox(title: string, note: string, svg: string): string {
  if (svg === '') return ''
  return `<figure class="small"><figcaption><strong>${escapeText(title)}</strong> ${escapeText(note)}</figcaption>${toInline(svg)}</figure>`
}

/** What the colours of stacked bars mean. */
export function toKey(parts: readonly { readonly name: string; readonly colour: string }[]): string {
  const items = parts.map(({ name, colour }) => `<li>${toSwatch(colour)}${escapeText(name)}</li>`)
  return `<ul class="key">${items.join('')}</ul>`
}

const LABEL = { color: QUIET, fontSize: 12, fontFamily: FONT }
const medianOf = (point: LadderPoint, column: LadderFigure): number => point.figure(column)?.median ?? 0
