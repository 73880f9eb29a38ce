import { toLabel } from './words.ts'

/** How one strategy looks wherever it is drawn: a colour (apart for most colour-blind eyes) and a shape. */
export interface Look {
  readonly name: string
  readonly colour: string
  readonly symbol: 'circle' | 'rect' | 'triangle' | 'diamond' | 'roundRect' | 'pin'
}

const LOOKS: Readonly<Record<string, Look>> = {
  cold: { name: 'cold', colour: '#596575', symbol: 'circle' },
  'provider-pool': { name: 'provider’s pool', colour: '#b5548a', symbol: 'rect' },
  prewarm: { name: 'prewarmed', colour: '#0072b2', symbol: 'diamond' },
  fork: { name: 'forked', colour: '#c2570c', symbol: 'triangle' },
  published: { name: 'published client', colour: '#00805d', symbol: 'roundRect' },
}
/** Of clients and strategies that are unknown here, in the order in which they are met. */
const OTHERS: readonly Omit<Look, 'name'>[] = [
  { colour: '#8a6d00', symbol: 'pin' },
  { colour: '#6d4fb3', symbol: 'roundRect' },
]

/** `all` are the strategies of the page, so that a foreign one looks the same on all of it. */
export function toLook(strategy: string, all: readonly string[]): Look {
  const known = Object.hasOwn(LOOKS, strategy) ? LOOKS[strategy] : undefined
  if (known !== undefined) return known
  const foreign = all.filter(name => !Object.hasOwn(LOOKS, name))
  const other = OTHERS[Math.max(0, foreign.indexOf(strategy)) % OTHERS.length] ?? { colour: '#8a6d00', symbol: 'pin' }
  return { ...other, name: toLabel(strategy) }
}
