import { Environment, numericMatch, z } from 'troupe/environment'

export const env = new Environment('my-environment', { version: '0.1.0' })

export const countLetter = env.template(
  'count_letter',
  {
    description: 'Say how often a letter occurs in a word.',
    args: z.object({ word: z.string().regex(/^[a-z]+$/), letter: z.string().regex(/^[a-z]$/) }),
    columns: ({ word }) => ({ length: word.length }),
  },
  async function* ({ word, letter }) {
    const answer =
      yield `How often does the letter "${letter}" occur in the word "${word}"? Answer with the number alone.`

    yield numericMatch(answer, countOf(word, letter))
  },
)

export function countOf(word: string, letter: string): number {
  return word.split(letter).length - 1
}
