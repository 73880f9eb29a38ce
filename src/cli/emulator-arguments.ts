/** What `troupe emulator` is told of an account: parsers that throw commander's own error. */
import { InvalidArgumentError } from 'commander'
import type { EmulatorOptions } from '../emulator/emulator.ts'
import { type Fault, parseFault } from '../emulator/faults.ts'
import type { RateLimits } from '../emulator/throttle.ts'

export function toFaults(text: string, earlier: readonly Fault[]): readonly Fault[] {
  try {
    return [...earlier, parseFault(text)]
  } catch (error) {
    throw new InvalidArgumentError(error instanceof Error ? error.message : String(error))
  }
}

const SHORT_NAMES = {
  all: 'authenticated',
  create: 'sandbox-create',
  lifecycle: 'sandbox-lifecycle',
} as const satisfies Record<string, keyof RateLimits>

type Limits = NonNullable<EmulatorOptions['limits']>

/** `create=300` or the throttler's full name, calls a minute; several are one object. */
export function toRateLimits(text: string, earlier: Limits = {}): Limits {
  const [name = '', number = ''] = text.split('=')
  const throttler = Object.entries(SHORT_NAMES).find(([short, full]) => name === short || name === full)?.[1]
  if (throttler === undefined || !isCount(number))
    throw new InvalidArgumentError(
      `Write NAME=CALLS a minute, for instance create=300, with one of: ${Object.keys(SHORT_NAMES).join(', ')}.`,
    )
  return { ...earlier, [throttler]: Number(number) }
}

type Quota = NonNullable<EmulatorOptions['quota']>

/** `cpu=64,memory=128`: what is not named stays as it is. */
export function toQuota(text: string, earlier: Quota = {}): Quota {
  const quota: { -readonly [Key in keyof Quota]?: number } = { ...earlier }
  for (const part of text.split(',')) {
    const [name = '', number = ''] = part.split('=')
    if ((name !== 'cpu' && name !== 'memory' && name !== 'disk') || !isCount(number))
      throw new InvalidArgumentError('Write vCPUs and GiB, for instance cpu=64,memory=128,disk=512.')
    quota[name] = Number(number)
  }
  return quota
}

const isCount = (text: string): boolean => /^\d+$/.test(text) && Number(text) >= 1 && Number.isSafeInteger(Number(text))
