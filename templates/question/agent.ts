import { defineAgent } from 'troupe'
import { countOf } from './env.ts'

/** Needs no model, since it counts: it shows that each task can be solved, and what an agent looks like. */
export default defineAgent(() => ({
  name: 'counts',
  async run({ prompt }) {
    const [, letter = '', word = ''] = /"(.)".*"(.+)"/.exec(String(prompt)) ?? []
    return { answer: String(countOf(word, letter)), stop: 'done' }
  },
}))
