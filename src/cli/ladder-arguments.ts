/** What `troupe ladder` and its kin are told: parsers that throw commander's own error. */
import { InvalidArgumentError } from 'commander'
import { STRATEGIES, type Strategy } from '../ladder/level.ts'
import { toList } from './arguments.ts'

const MAX_WIDTH = 4_096

/** Widths in ascending order, each once. */
export function toLevels(text: string): readonly number[] {
  const widths = toList(text).map(word => (/^\d+$/.test(word.trim()) ? Number(word) : Number.NaN))
  if (widths.some(width => !(width >= 1 && width <= MAX_WIDTH)))
    throw new InvalidArgumentError(`Write whole numbers from 1 to ${MAX_WIDTH}, for instance 1,8,32,128,256.`)
  return [...new Set(widths)].sort((one, other) => one - other)
}

export function toLadderStrategies(text: string): readonly Strategy[] {
  const found = toList(text).map(word => STRATEGIES.find(strategy => strategy === word.trim()))
  if (found.includes(undefined)) throw new InvalidArgumentError(`Write one or several of: ${STRATEGIES.join(', ')}.`)
  return [...new Set(found.filter(strategy => strategy !== undefined))]
}
