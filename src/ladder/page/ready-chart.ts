import type { LadderPoint } from '../../receipts/over-repetitions.ts'
import type { Work } from '../level.ts'
import { type ChartWords, drawChart, FONT, INK, PAPER, QUIET, toWidthAxis } from './chart.ts'
import { type NamePlace, placeNames } from './name-places.ts'
import { LEAST_S, toPlace, toSecondsAxis, toYAxis } from './seconds-axis.ts'
import { type Look, toLook } from './strategies.ts'
import { byStrategy, pointsOf, type Views, widthsOf } from './view.ts'
import { toSeconds } from './words.ts'

export interface ReadyShape {
  readonly width: number
  readonly height: number
  /** With a title and a ground of its own, to stand alone. */
  readonly alone: boolean
}

interface Line {
  readonly name: string
  readonly look: Look
  readonly points: readonly LadderPoint[]
  readonly other: boolean
}

/** Below this much room, names stand under the picture instead of beside their lines. */
const ROOM_FOR_NAMES = 640

/** Seconds until ready by how many were asked for at once, both axes logarithmic; one line a strategy, those of the other receipt dashed. */
export function drawReady(views: Views, work: Work, shape: ReadyShape, words: ChartWords): string {
  const lines = toLines(views, work)
  const narrow = shape.width < ROOM_FOR_NAMES
  const fontSize = narrow ? 12 : 13
  const widths = widthsOf(lines.flatMap(({ points }) => points))
  const axis = toSecondsAxis(lines.flatMap(({ points }) => points.flatMap(toExtent)))
  const grid = {
    left: narrow ? 52 : 78,
    right: narrow ? 14 : toRoom(lines),
    top: shape.alone ? 96 : 20,
    bottom: 60,
  }
  const places = narrow ? [] : placeNames(lines.map(toNamed), axis, shape.height - grid.top - grid.bottom)
  return drawChart(
    {
      backgroundColor: shape.alone ? PAPER : 'transparent',
      ...(shape.alone ? { title: toTitle(words, views) } : {}),
      grid,
      xAxis: toWidthAxis(widths, {
        name: work === 'infra' ? 'sandboxes asked for at once' : 'rollouts begun at once',
        fontSize,
        pixels: shape.width - grid.left - grid.right,
      }),
      yAxis: toYAxis(axis, narrow ? '' : 'seconds until ready', fontSize),
      series: lines.flatMap((line, index) => toSeries(line, places[index])),
    },
    shape.width,
    shape.height,
    words,
  )
}

/** Each line's medians in words, for the picture's description. */
export function describeReady(views: Views, work: Work): string {
  return toLines(views, work)
    .map(
      ({ name, points }) =>
        `${name}: ${points.map(point => `${point.n} at once ${toSeconds(p50Of(point))}`).join(', ')}.`,
    )
    .join(' ')
}

function toLines({ own, other, strategies }: Views, work: Work): readonly Line[] {
  const lines = (view: typeof other, isOther: boolean) =>
    byStrategy(pointsOf(view, work)).flatMap(([strategy, points]) => {
      const look = toLook(strategy, strategies)
      const ready = points.filter(point => point.figure('ready_p50_s') !== undefined)
      return ready.length === 0
        ? []
        : [{ name: isOther ? `${look.name}, ${view?.name}` : look.name, look, points: ready, other: isOther }]
    })
  return [...lines(other, true), ...lines(own, false)]
}

/** Without a place its name is not written. */
function toSeries(line: Line, place: NamePlace | undefined): readonly object[] {
  const { name, look, points, other } = line
  const last = points.at(-1)
  const style = { color: look.colour, opacity: other ? 0.75 : 1 }
  const at = (point: LadderPoint, seconds: number) => [Math.log2(point.n), toPlace(seconds)]
  const median = {
    type: 'line',
    name,
    data: points.map(point => ({
      value: at(point, p50Of(point)),
      label: { show: place !== undefined && point === last },
    })),
    symbol: look.symbol,
    symbolSize: other ? 7 : 9,
    itemStyle: other ? { color: PAPER, borderColor: look.colour, borderWidth: 1.5 } : style,
    lineStyle: { ...style, width: other ? 1.75 : 2.5, type: other ? [6, 5] : 'solid' },
    label: {
      position: place?.side ?? 'right',
      distance: 12,
      offset: [0, place?.down ?? 0],
      textBorderColor: PAPER,
      textBorderWidth: 3,
      color: look.colour,
      fontSize: 13,
      fontWeight: other ? 400 : 600,
      fontFamily: FONT,
      formatter: () => `${name}  ${last === undefined ? '' : toSeconds(p50Of(last))}`,
    },
    z: other ? 3 : 5,
    silent: true,
  }
  if (other) return [median]
  const p95 = {
    type: 'line',
    name: `${name}, p95`,
    data: points.filter(point => point.figure('ready_p95_s') !== undefined).map(point => at(point, p95Of(point))),
    symbol: 'circle',
    symbolSize: 4,
    itemStyle: { color: look.colour, opacity: 0.55 },
    lineStyle: { color: look.colour, opacity: 0.45, width: 1.25, type: [1, 4], cap: 'round' },
    z: 2,
    silent: true,
  }
  const whiskers = {
    type: 'custom',
    name: `${name}, interval`,
    data: points.flatMap(point => {
      const [low, high, cut] = toRange(point)
      return low === high ? [] : [[...at(point, low), Math.log10(high), cut ? 1 : 0]]
    }),
    encode: { x: 0, y: [1, 2] },
    renderItem: (_: unknown, api: WhiskerApi) => drawWhisker(api, look.colour),
    z: 4,
    silent: true,
  }
  return [p95, whiskers, median]
}

interface WhiskerApi {
  value(dimension: number): number
  coord(at: readonly [number, number]): readonly [number, number]
}

function drawWhisker(api: WhiskerApi, stroke: string): object {
  const [x, low] = api.coord([api.value(0), api.value(1)])
  const [, high] = api.coord([api.value(0), api.value(2)])
  const line = (shape: object) => ({ type: 'line', shape, style: { stroke, lineWidth: 1.5, opacity: 0.8 } })
  return {
    type: 'group',
    children: [
      line({ x1: x, y1: low, x2: x, y2: high }),
      ...(api.value(3) === 1 ? [] : [line({ x1: x - 5, y1: low, x2: x + 5, y2: low })]),
      line({ x1: x - 5, y1: high, x2: x + 5, y2: high }),
    ],
  }
}

const toNamed = ({ points }: Line) => ({ points: points.map(point => ({ n: point.n, seconds: p50Of(point) })) })
const p50Of = (point: LadderPoint): number => point.figure('ready_p50_s')?.median ?? Number.NaN
const p95Of = (point: LadderPoint): number => point.figure('ready_p95_s')?.median ?? p50Of(point)

/** All that is drawn of a point. */
function toExtent(point: LadderPoint): readonly number[] {
  const [low, high] = toRange(point)
  return [low, high, p50Of(point), p95Of(point)]
}

/** The interval of the mean. Its lower end can be below nothing, where a logarithm has no place: it is then cut at a third of the median. */
function toRange(point: LadderPoint): readonly [low: number, high: number, cut: boolean] {
  const figure = point.figure('ready_p50_s')
  if (figure?.margin === undefined) return [p50Of(point), p50Of(point), false]
  const least = Math.max(figure.median / 3, LEAST_S)
  const low = Math.max(figure.mean - figure.margin, least)
  return [low, Math.max(low, figure.mean + figure.margin), low === least]
}

/** Pixels for the longest name and its figure. */
const toRoom = (lines: readonly Line[]): number =>
  Math.min(320, 90 + 7 * Math.max(0, ...lines.map(({ name }) => name.length)))

function toTitle({ title }: ChartWords, { own, other }: Views): object {
  const repetitions = Math.max(1, ...own.points.map(({ rows }) => rows.length))
  const bars =
    repetitions === 1 ? 'one repetition' : `medians of ${repetitions} repetitions, bars: 95 % interval of their mean`
  return {
    left: 24,
    top: 18,
    text: title,
    subtext: `p50 until ready; ${bars}; dots: p95${other === undefined ? '' : `; dashed: ${other.name}`}`,
    textStyle: { color: INK, fontSize: 18, fontWeight: 600, fontFamily: FONT },
    subtextStyle: { color: QUIET, fontSize: 13, fontFamily: FONT },
  }
}
