import { defineAgent } from 'troupe'
import { z } from 'troupe/environment'

const settings = z.strictObject({})

/** The smallest agent: it reads two numbers in the prompt and answers with their sum. */
export default defineAgent(config => {
  settings.parse(config)
  return {
    name: 'adder',
    async run({ prompt }) {
      const numbers = String(prompt).match(/-?\d+/g) ?? []
      return { answer: String(numbers.slice(0, 2).reduce((sum, each) => sum + Number(each), 0)), stop: 'done' }
    },
  }
})
