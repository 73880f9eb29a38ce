/** What `troupe tune` is told of a job: parsers that throw commander's own error. */
import { InvalidArgumentError } from 'commander'
import type { Durations } from '../simulation/job.ts'
import { STRATEGIES, type Strategy } from '../tune/request.ts'
import { toList } from './arguments.ts'
import type { TuneArguments } from './commands/tune.ts'

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }

/** `90s`, `1.5m`, `500ms`. */
export function toDurationMs(text: string): number {
  const ms = readDuration(text)
  if (ms === undefined) throw new InvalidArgumentError('Write a time with its unit, such as 94s, 1.5m or 500ms.')
  return ms
}

/** `p50=50s,p95=90s`, or a list of measured times. */
export function toDurations(text: string): Durations {
  const parts = text.split(',').map(part => part.trim())
  if (!text.includes('=')) {
    const ms = parts.map(readDuration)
    if (ms.length < 2 || ms.some(each => each === undefined)) throw noDurations()
    return { type: 'measured', ms: ms.filter(each => each !== undefined) }
  }
  const named = new Map(
    parts.map(part => part.split('=', 2)).map(([name = '', value = '']) => [name, readDuration(value)]),
  )
  const [p50Ms, p95Ms] = [named.get('p50'), named.get('p95')]
  if (parts.length !== 2 || named.size !== 2 || p50Ms === undefined || p95Ms === undefined || p50Ms === 0)
    throw noDurations()
  if (p95Ms < p50Ms) throw new InvalidArgumentError('Write a p95 that is no shorter than the p50.')
  return { type: 'lognormal', p50Ms, p95Ms }
}

export function toArrivals(text: string): TuneArguments['arrivals'] {
  const [how = '', detail] = text.split(':', 2)
  if (how === 'batch' && detail === undefined) return { type: 'batch' }
  if (how === 'staggered') {
    const overMs = detail === undefined ? undefined : readDuration(detail)
    if (detail === undefined || overMs !== undefined) return { type: 'staggered', overMs }
  }
  const perSecond = Number(detail)
  if (how === 'steady' && detail !== undefined && perSecond > 0 && Number.isFinite(perSecond))
    return { type: 'steady', perSecond }
  throw new InvalidArgumentError(
    'Write batch, staggered, staggered:TIME such as staggered:5m, or steady:RATE such as steady:0.5.',
  )
}

export function toStrategies(text: string): readonly Strategy[] {
  const found = toList(text).map(word => STRATEGIES.find(strategy => strategy === word.trim()))
  if (found.includes(undefined)) throw new InvalidArgumentError(`Write one or several of: ${STRATEGIES.join(', ')}.`)
  return [...new Set(found.filter(strategy => strategy !== undefined))]
}

export const toPaths = (text: string, earlier: readonly string[]): readonly string[] => [...earlier, text]

function readDuration(text: string): number | undefined {
  const [, digits, unit = ''] = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(text) ?? []
  const unitMs = UNIT_MS[unit]
  return digits === undefined || unitMs === undefined ? undefined : Number(digits) * unitMs
}

const noDurations = () =>
  new InvalidArgumentError(
    'Write p50=TIME,p95=TIME, for instance p50=50s,p95=90s, or two measured times or more, for instance 41s,52s,90s.',
  )
