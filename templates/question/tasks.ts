import { countLetter } from './env.ts'

export { env } from './env.ts'

const QUESTIONS = [
  ['strawberry', 'r'],
  ['mississippi', 's'],
  ['bookkeeper', 'e'],
  ['onomatopoeia', 'o'],
  ['banana', 'n'],
  ['rhythm', 'a'],
] as const

/** Named for what is asked: in a table that says more than the default, which is a hash of the arguments. */
export default QUESTIONS.map(([word, letter]) => countLetter({ word, letter }, { slug: `${letter}-in-${word}` }))
