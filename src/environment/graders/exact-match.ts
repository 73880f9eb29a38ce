import { normalize, toText } from './normalize.ts'

/** 1 if the two are the same once normalised, else 0. With `normalize: false` only case and outer spaces are ignored. */
export function exactMatch(answer: unknown, expected: string, options: { readonly normalize?: boolean } = {}): number {
  const plain = (text: unknown) => toText(text).trim().toLowerCase()
  const read = (options.normalize ?? true) ? normalize : plain
  return read(answer) === read(expected) ? 1 : 0
}
