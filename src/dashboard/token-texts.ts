import type { Tokenizer } from '../policy/tokenizer.ts'

/** The text of each token; undefined where one of them is none of the vocabulary, so that it is another one's. */
export function makeTokenTexts(tokenizer: Tokenizer): (ids: Uint32Array) => readonly string[] | undefined {
  const known = new Map<number, string>()
  return ids => {
    const texts: string[] = []
    for (const id of ids) {
      if (id >= tokenizer.vocabulary) return undefined
      const text = known.get(id) ?? tokenizer.decode([id])
      known.set(id, text)
      texts.push(text)
    }
    return texts
  }
}
