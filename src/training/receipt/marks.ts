import type { CurvePoint } from './curves.ts'

/** What the chart is asked to draw; the library checks no more of it than this. */
export interface SeriesOption {
  readonly type: 'line' | 'custom'
  readonly name: string
  readonly [option: string]: unknown
}

export interface Marked {
  readonly name: string
  readonly colour: string
  readonly points: readonly CurvePoint[]
  /** Lies under the others and says nothing of itself. */
  readonly quiet?: boolean
}

export const INK = '#1f2933'
export const QUIET = '#a9b2bd'

/** Width of an interval's caps, in pixels to each side. */
const CAP = 5

/** A line with a small dot a step. */
export function drawTrain({ name, colour, points, quiet = false }: Marked): readonly SeriesOption[] {
  return [
    {
      ...line(name, colour, points),
      lineStyle: { color: colour, width: quiet ? 1.5 : 2.5 },
      symbol: 'circle',
      symbolSize: quiet ? 4 : 6,
      z: quiet ? 2 : 4,
    },
  ]
}

/** Diamonds joined by a dashed line, with their intervals and the rate in figures at both ends; a quiet one at its end. */
export function drawHeldOut({ name, colour, points, quiet = false }: Marked): readonly SeriesOption[] {
  const last = points.length - 1
  const marked: SeriesOption = {
    ...line(name, colour, points),
    data: points.map((point, index) => ({
      ...datum(point),
      label: {
        // Two runs often begin at one rate, and two figures in one place cannot be read: the quiet one keeps its end alone.
        show: index === last || (index === 0 && !quiet),
        position: index === last && index > 0 ? 'right' : 'left',
        distance: 10,
        formatter: `${(point.rate * 100).toFixed(1)} %`,
        color: quiet ? '#7d8793' : colour,
        fontSize: 12,
        fontWeight: quiet ? 'normal' : 'bold',
      },
    })),
    labelLayout: { moveOverlap: 'shiftY' },
    lineStyle: { color: colour, width: quiet ? 1 : 1.5, type: 'dashed' },
    symbol: 'diamond',
    symbolSize: quiet ? 8 : 11,
    z: quiet ? 3 : 6,
  }
  return [...drawIntervals(name, colour, points), marked]
}

function line(name: string, colour: string, points: readonly CurvePoint[]): SeriesOption {
  return {
    type: 'line',
    name,
    data: points.map(datum),
    itemStyle: { color: colour },
    clip: false,
    silent: true,
    showSymbol: true,
  }
}

function datum({ at, rate }: CurvePoint): { readonly value: readonly [number, number] } {
  return { value: [at, rate * 100] }
}

function drawIntervals(name: string, colour: string, points: readonly CurvePoint[]): readonly SeriesOption[] {
  const known = points.flatMap(({ at, interval }) =>
    interval === undefined ? [] : [[at, interval[0] * 100, interval[1] * 100]],
  )
  if (known.length === 0) return []
  return [
    {
      type: 'custom',
      name: `${name} interval`,
      data: known,
      silent: true,
      clip: false,
      z: 5,
      renderItem: (_: unknown, api: Coordinates) => {
        const [x = 0, low = 0] = api.coord([api.value(0), api.value(1)])
        const [, high = 0] = api.coord([api.value(0), api.value(2)])
        const style = { stroke: colour, lineWidth: 1.5, opacity: 0.75 }
        const stroke = (x1: number, y1: number, x2: number, y2: number) => ({
          type: 'line',
          shape: { x1, y1, x2, y2 },
          style,
        })
        return {
          type: 'group',
          children: [stroke(x, low, x, high), stroke(x - CAP, low, x + CAP, low), stroke(x - CAP, high, x + CAP, high)],
        }
      },
    },
  ]
}

/** As much of the library's drawing interface as is used. */
interface Coordinates {
  value(dimension: number): number
  coord(point: readonly number[]): readonly number[]
}
