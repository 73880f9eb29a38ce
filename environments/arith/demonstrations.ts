/** What the base policy of this environment is warmed up with: sums, of which more than half are wrong on purpose. */
import type { DemonstrationSource } from 'troupe/policy'
import { question } from './env.ts'
import { PAIRS } from './tasks.ts'

/** Share of answers that are off by one or by ten. */
const NOISE = 0.6
const MISTAKES = [-10, -1, 1, 10]

const source: DemonstrationSource = {
  name: 'arith',
  tools: [],
  settings: {
    width: 32,
    heads: 4,
    layers: 2,
    context: 48,
    merges: 40,
    steps: 160,
    batch: 64,
    learningRate: 6e-3,
    sharpen: 1,
    seed: 1,
  },
  corpus: () => PAIRS.map(({ a, b }) => question(a, b)),
  draw(random) {
    const pick = <Value>(values: readonly Value[]) => values[Math.floor(random() * values.length)]
    const { a, b } = pick(PAIRS) ?? { a: 0, b: 0 }
    const answer = a + b + (random() < NOISE ? (pick(MISTAKES) ?? 0) : 0)
    return [
      {
        context: [{ role: 'user', content: question(a, b) }],
        reply: { content: String(answer), toolCalls: [] },
      },
    ]
  },
}

export default source
