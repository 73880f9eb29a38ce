/** Parsers for option values; each throws commander's own error, which names the option. */
import { InvalidArgumentError } from 'commander'
import { PHASES } from '../rollout/run.ts'

export function wholeNumberFrom(least: number): (text: string) => number {
  return text => {
    const value = Number(text)
    if (!/^\d+$/.test(text) || !Number.isSafeInteger(value) || value < least)
      throw new InvalidArgumentError(`Write a whole number from ${least} up.`)
    return value
  }
}

export function toShare(text: string): number {
  const value = Number(text)
  if (text.trim() === '' || !(value >= 0 && value <= 1)) throw new InvalidArgumentError('Write a number from 0 to 1.')
  return value
}

export function toList(text: string, earlier: readonly string[] = []): string[] {
  const items = text.split(',').filter(item => item.trim() !== '')
  if (items.length === 0) throw new InvalidArgumentError('Write at least one, separated by commas.')
  return [...earlier, ...items]
}

export function toJsonObject(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value }
  } catch {
    // Malformed and of the wrong kind are told alike.
  }
  throw new InvalidArgumentError(`Write a JSON object, for instance '{"variant": 3}'.`)
}

const LIMITED = ['rollout', ...PHASES] as const
export type DeadlineArgument = Partial<Record<(typeof LIMITED)[number], number>>

/** `600` is a limit for a whole rollout, `agent=300` for one phase; seconds in, milliseconds out. */
export function toDeadlines(text: string, earlier: DeadlineArgument = {}): DeadlineArgument {
  const [first = '', second] = text.split('=')
  const phase = LIMITED.find(name => name === (second === undefined ? 'rollout' : first))
  const seconds = Number(second ?? first)
  if (phase === undefined || !(seconds > 0) || !Number.isFinite(seconds))
    throw new InvalidArgumentError(`Write seconds, or PHASE=SECONDS with one of: ${LIMITED.join(', ')}.`)
  return { ...earlier, [phase]: seconds * 1000 }
}

export function positiveNumber(text: string): number {
  const value = Number(text)
  if (text.trim() === '' || !Number.isFinite(value) || value <= 0)
    throw new InvalidArgumentError('Write a number above 0.')
  return value
}

export function numberFromZero(text: string): number {
  const value = Number(text)
  if (text.trim() === '' || !Number.isFinite(value) || value < 0)
    throw new InvalidArgumentError('Write a number from 0 up.')
  return value
}

/** `clip_low_threshold=0.8`; several are one object. */
export function toAssignments(text: string, earlier: Readonly<Record<string, number>> = {}): Record<string, number> {
  const [, name, number = ''] = /^([A-Za-z_]\w*)=(.+)$/.exec(text) ?? []
  if (name === undefined || !Number.isFinite(Number(number)))
    throw new InvalidArgumentError('Write NAME=NUMBER, for instance clip_low_threshold=0.8.')
  return { ...earlier, [name]: Number(number) }
}

const UNITS: Readonly<Record<string, number>> = { '': 1, kib: 1024, mib: 1024 ** 2, gib: 1024 ** 3 }

/** `8MiB`, `512KiB`, or bytes. */
export function toBytes(text: string): number {
  const [, digits, unit = ''] = /^(\d+) ?(kib|mib|gib)?$/i.exec(text) ?? []
  const bytes = Number(digits) * (UNITS[unit.toLowerCase()] ?? 1)
  if (digits === undefined || !Number.isSafeInteger(bytes) || bytes < 1)
    throw new InvalidArgumentError('Write a size such as 8MiB, 512KiB, or a number of bytes.')
  return bytes
}
