import { FONT, GRID, QUIET } from './chart.ts'
import { toSeconds } from './words.ts'

/** A tenth of a millisecond: what is nearer to nothing is drawn there, as the axis has no zero. */
export const LEAST_S = 1e-4

/** Where on the axis so many seconds are. */
export const toPlace = (seconds: number): number => Math.log10(Math.max(LEAST_S, seconds))

export interface SecondsAxis {
  /** Logarithms. */
  readonly min: number
  readonly max: number
  readonly at: readonly number[]
}

const STEPS = [1, 2, 5]

/** From below the least to above the greatest, with a line at every 1, 2 and 5 where there are not too many. */
export function toSecondsAxis(seconds: readonly number[]): SecondsAxis {
  const known = (seconds.length === 0 ? [0.1, 10] : seconds).map(value => Math.max(LEAST_S, value))
  const [least, greatest] = [Math.min(...known), Math.max(...known)]
  const steps = Array.from({ length: 16 }, (_, index) => STEPS.map(step => step * 10 ** (index - 5))).flat()
  const min = steps.findLast(step => step <= least * 0.98) ?? LEAST_S / 2
  const max = steps.find(step => step >= greatest * 1.02) ?? greatest * 1.2
  const within = steps.filter(step => step >= min && step <= max)
  const shown = within.length <= 13 ? within : within.filter(step => Number.isInteger(Math.log10(step)))
  return { min: Math.log10(min), max: Math.log10(max), at: shown.map(step => Math.log10(step)) }
}

export function toYAxis({ min, max, at }: SecondsAxis, name: string, fontSize: number): object {
  return {
    type: 'value',
    name,
    nameLocation: 'middle',
    nameGap: 56,
    nameTextStyle: { color: QUIET, fontSize, fontFamily: FONT },
    min,
    max,
    axisLine: { show: false },
    axisTick: { show: false, customValues: at },
    splitLine: { show: true, lineStyle: { color: GRID } },
    axisLabel: {
      customValues: at,
      color: QUIET,
      fontSize,
      fontFamily: FONT,
      formatter: (value: number) => toSeconds(10 ** value, 1),
    },
  }
}
