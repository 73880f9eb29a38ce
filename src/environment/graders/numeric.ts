import { toText } from './normalize.ts'

const NUMBER = /[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?/i

/** 1 if the first number in the answer is within `tolerance` (default 0) of `expected`, else 0. */
export function numericMatch(answer: unknown, expected: number, options: { readonly tolerance?: number } = {}): number {
  const found = NUMBER.exec(toText(answer))
  if (found === null) return 0
  return Math.abs(Number(found[0]) - expected) <= (options.tolerance ?? 0) ? 1 : 0
}
