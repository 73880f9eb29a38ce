import { normalize } from './normalize.ts'

/**
 * How much the words of the two overlap, from 0 to 1: the harmonic mean of precision and recall over normalised words, each
 * counted as often as it occurs in both (the token F1 of SQuAD, Rajpurkar et al. 2016).
 */
export function f1Score(answer: unknown, reference: string): number {
  const given = toWords(answer)
  const wanted = toWords(reference)
  const left = new Map<string, number>()
  for (const word of wanted) left.set(word, (left.get(word) ?? 0) + 1)
  let common = 0
  for (const word of given) {
    const count = left.get(word) ?? 0
    if (count === 0) continue
    left.set(word, count - 1)
    common += 1
  }
  return common === 0 ? 0 : (2 * common) / (given.length + wanted.length)
}

function toWords(text: unknown): string[] {
  return normalize(text).split(' ').filter(Boolean)
}
