import { InvalidArgumentError } from 'commander'
import type { PoolOptions, PoolSource } from '../job/options.ts'

/** What `--pool` says: how many sandboxes are kept ready, and where they come from. */
export type PoolArgument = Pick<PoolOptions, 'strategy' | 'size' | 'source' | 'wave'>

export const COLD: PoolArgument = { strategy: 'cold', size: 0 }

export const POOL_GRAMMAR =
  'cold, auto or N ready ones; provider-pool[:N] or fork[:PARENTS]; or both: 128+fork:8; and wave:N, creates at once'

/**
 * `SIZE`, `SOURCE` or `SIZE+SOURCE`, in any order, and `+wave:N`. A lone source makes each sandbox when it is asked for; a lone `auto` leaves both to what is
 * measured.
 */
export function toPool(text: string): PoolArgument {
  let size: Sizing | undefined
  let source: PoolSource | undefined
  let wave: number | undefined
  for (const part of text.split('+')) {
    const [, creates] = /^wave:(.*)$/.exec(part) ?? []
    if (creates !== undefined) {
      if (wave !== undefined) throw wrong(`"${part}" is a second wave.`)
      wave = toCount(creates, part)
      continue
    }
    const read = toSize(part) ?? toSource(part)
    if (read === undefined)
      throw wrong(part === '' ? `There is nothing on one side of a "+".` : `"${part}" is no part of a pool.`)
    if ('strategy' in read) {
      if (size !== undefined) throw wrong(`"${part}" is a second size.`)
      size = read
    } else {
      if (source !== undefined) throw wrong(`"${part}" is a second source.`)
      source = read
    }
  }
  if (text === 'auto') return { strategy: 'prewarm', size: 'auto', source: { type: 'auto' } }
  return { ...(size ?? COLD), ...(source === undefined ? {} : { source }), ...(wave === undefined ? {} : { wave }) }
}

type Sizing = Pick<PoolOptions, 'strategy' | 'size'>

function toSize(part: string): Sizing | undefined {
  if (part === 'cold') return COLD
  if (part === 'auto') return { strategy: 'prewarm', size: 'auto' }
  return /^\d/.test(part) ? { strategy: 'prewarm', size: toCount(part, part) } : undefined
}

function toSource(part: string): PoolSource | undefined {
  const [, name, , count] = /^(provider-pool|fork)(:(.*))?$/.exec(part) ?? []
  const number = count === undefined ? undefined : toCount(count, part)
  if (name === 'provider-pool') return { type: name, ...(number === undefined ? {} : { size: number }) }
  if (name === 'fork') return { type: name, ...(number === undefined ? {} : { parents: number }) }
  return undefined
}

function toCount(digits: string, part: string): number {
  const count = Number(digits)
  if (!/^\d+$/.test(digits) || count < 1 || !Number.isSafeInteger(count))
    throw wrong(`The number in "${part}" is none from 1 up.`)
  return count
}

const wrong = (why: string) => new InvalidArgumentError(`${why} Write ${POOL_GRAMMAR}.`)
