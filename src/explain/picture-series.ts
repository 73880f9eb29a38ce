import type { Part, Span } from './timeline.ts'

/** What is drawn in one colour. The colours are Okabe and Ito's, which people who see colours otherwise tell apart. */
export const FAMILIES: readonly { readonly name: string; readonly colour: string; readonly parts: readonly Part[] }[] =
  [
    {
      name: 'sandbox',
      colour: '#d55e00',
      parts: ['sandbox-cold', 'sandbox-claim', 'sandbox-fork', 'sandbox-none', 'sandbox-hit'],
    },
    { name: 'connecting, starting', colour: '#e69f00', parts: ['connecting', 'starting'] },
    { name: 'model', colour: '#0072b2', parts: ['model'] },
    { name: 'tools', colour: '#56b4e9', parts: ['tools'] },
    { name: 'agent', colour: '#b7cfe0', parts: ['agent'] },
    { name: 'grading', colour: '#009e73', parts: ['grading'] },
    { name: 'verifying', colour: '#cc79a7', parts: ['verifying'] },
    { name: 'cleanup, between phases', colour: '#a0aec0', parts: ['cleanup', 'other'] },
    { name: 'training', colour: '#4a5568', parts: ['training'] },
    { name: 'optimiser step', colour: '#b8a900', parts: ['optimiser'] },
  ]

export const INK = '#1f2933'
export const QUIET = '#5f6b7a'

/** As much of the library's drawing interface as is used. */
interface Coordinates {
  value(dimension: number): number
  coord(point: readonly [number, number]): readonly number[]
}

interface Corners {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

/** Seconds and lanes: from, to, top, bottom. */
type Datum = readonly [number, number, number, number]

/** A lane stands free of the next by a little. */
const AIR = 0.12
const LEAST_PIXELS = 0.6

/** Filled stretches of lanes. `tall`: how many lanes, where not one. */
export function boxes(
  { name, colour, grid }: { readonly name: string; readonly colour: string; readonly grid: number },
  spans: readonly (Span & { readonly top: number; readonly tall?: number })[],
): object {
  const data = spans.map(
    ({ from, to, top, tall }): Datum =>
      tall === undefined
        ? [from / 1000, to / 1000, top + AIR / 2, top + 1 - AIR / 2]
        : [from / 1000, to / 1000, top, top + tall],
  )
  return {
    ...custom(name, grid, data),
    itemStyle: { color: colour },
    renderItem: (_: unknown, api: Coordinates) => ({
      type: 'rect',
      shape: cornersOf(api),
      style: { fill: colour },
    }),
  }
}

/** Outlines of stretches of lanes, and what leads from each to the next. */
export function frames(spans: readonly (Span & { readonly top: number })[]): object {
  const data = spans.map(({ from, to, top }, place): readonly number[] => [
    from / 1000,
    to / 1000,
    top,
    top + 1,
    spans[place + 1]?.top ?? top,
  ])
  return {
    ...custom('critical path', 0, data),
    itemStyle: { color: INK },
    z: 5,
    renderItem: (_: unknown, api: Coordinates) => {
      const { x, y, width, height } = cornersOf(api)
      const [, next = y] = api.coord([api.value(1), api.value(4)])
      const style = { stroke: INK, lineWidth: 1.5, fill: 'none' }
      return {
        type: 'group',
        children: [
          { type: 'rect', shape: { x, y, width, height }, style },
          {
            type: 'line',
            shape: { x1: x + width, y1: y + height / 2, x2: x + width, y2: next + height / 2 },
            style: { stroke: INK, lineWidth: 1.5 },
          },
        ],
      }
    },
  }
}

/** Names to the left of the lanes. */
export function labels(
  groups: readonly { readonly slug: string; readonly top: number; readonly bottom: number }[],
  grid = 0,
): object {
  const data = groups.map(({ top, bottom }): Datum => [0, 0, top, bottom])
  return {
    ...custom('names', grid, data),
    itemStyle: { color: QUIET },
    renderItem: ({ dataIndex }: { readonly dataIndex: number }, api: Coordinates) => {
      const { x, y, height } = cornersOf(api)
      return {
        type: 'text',
        style: {
          x: x - 8,
          y: y + height / 2,
          text: shorten(groups[dataIndex]?.slug ?? ''),
          fill: QUIET,
          fontSize: 11,
          textAlign: 'right',
          textVerticalAlign: 'middle',
        },
      }
    },
  }
}

/** Drawn whole at once: the library would otherwise leave what is beyond some thousands to a next frame, of which there is none. */
const custom = (name: string, grid: number, data: readonly (readonly number[])[]) => ({
  type: 'custom',
  name,
  xAxisIndex: grid,
  yAxisIndex: grid,
  data,
  encode: { x: [0, 1], y: [2, 3] },
  silent: true,
  clip: false,
  progressive: 0,
})

function cornersOf(api: Coordinates): Corners {
  const [x = 0, y = 0] = api.coord([api.value(0), api.value(2)])
  const [right = x, bottom = y] = api.coord([api.value(1), api.value(3)])
  return { x, y, width: Math.max(LEAST_PIXELS, right - x), height: bottom - y }
}

const MOST_CHARACTERS = 20
const shorten = (text: string): string =>
  text.length <= MOST_CHARACTERS ? text : `${text.slice(0, MOST_CHARACTERS - 1)}…`
