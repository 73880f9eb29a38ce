import { toText } from './normalize.ts'

/** How `contains`, `containsAll` and `containsAny` compare. */
export interface ContainsOptions {
  /** Default false. */
  readonly caseSensitive?: boolean
}

/** 1 if the answer has `part` in it, else 0. */
export function contains(answer: unknown, part: string, options: ContainsOptions = {}): number {
  return containsAll(answer, [part], options)
}

/** 1 if the answer has at least one of `parts` in it, else 0. */
export function containsAny(answer: unknown, parts: readonly string[], options: ContainsOptions = {}): number {
  return parts.some(finder(answer, options)) ? 1 : 0
}

/** 1 if the answer has each of `parts` in it, else 0. */
export function containsAll(answer: unknown, parts: readonly string[], options: ContainsOptions = {}): number {
  return parts.every(finder(answer, options)) ? 1 : 0
}

function finder(answer: unknown, { caseSensitive = false }: ContainsOptions): (part: string) => boolean {
  const read = (text: string) => (caseSensitive ? text : text.toLowerCase())
  const text = read(toText(answer))
  return part => text.includes(read(part))
}
