import { Environment, numericMatch, z } from 'troupe/environment'

export const env = new Environment('arith', { version: '1.0.0' })

export const add = env.template(
  'add',
  {
    description: 'Add two whole numbers.',
    args: z.object({ a: z.int(), b: z.int() }),
  },
  async function* ({ a, b }) {
    const answer = yield question(a, b)

    yield numericMatch(answer, a + b)
  },
)

export function question(a: number, b: number): string {
  return `What is ${a} + ${b}? Answer with the number alone.`
}
