/**
 * What stands behind `http-trainer.ts` until there is something better: a service with three routes whose policy is a softmax over four answers, and
 * the agent that asks it. Nothing of it is needed for a trainer of one's own.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import { defineAgent } from 'troupe'
import { z } from 'troupe/environment'

/** What the policy may add to the right answer: it has to learn that 0 is best. */
const ANSWERS = [-1, 0, 1, 10]

const samplesSchema = z.object({ samples: z.array(z.object({ tokens: z.array(z.int()), advantage: z.number() })) })
const stepSchema = z.object({ learning_rate: z.number() })
const policySchema = z.object({ version: z.string().nullable(), probabilities: z.array(z.number()) })

/** Gradients add up over `/samples` until `/step` applies them; `/policy` tells what there is. */
export async function startSoftmaxService(): Promise<{ readonly url: string; close(): Promise<void> }> {
  const logits = ANSWERS.map(() => 0)
  let gradient = ANSWERS.map(() => 0)
  let [step, calls] = [0, 0]
  const policy = () => {
    const weights = logits.map(Math.exp)
    const total = weights.reduce((sum, weight) => sum + weight, 0)
    const probabilities = weights.map(weight => weight / total)
    return { version: step === 0 ? null : `v${step}`, step, calls, probabilities }
  }
  const routes: Readonly<Record<string, (body: unknown) => object | undefined>> = {
    '/policy': policy,
    '/samples'(body) {
      const { samples } = samplesSchema.parse(body)
      const { probabilities } = policy()
      for (const { tokens, advantage } of samples)
        for (const token of tokens)
          gradient = gradient.map((sum, id) => sum + advantage * ((id === token ? 1 : 0) - (probabilities[id] ?? 0)))
      calls += 1
      return { loss: samples.reduce((sum, { tokens, advantage }) => sum - advantage * tokens.length, 0) }
    },
    '/step'(body) {
      const { learning_rate } = stepSchema.parse(body)
      if (calls === 0) return undefined
      for (const [id, slope] of gradient.entries()) logits[id] = (logits[id] ?? 0) + learning_rate * slope
      gradient = ANSWERS.map(() => 0)
      step += 1
      calls = 0
      return policy()
    },
  }
  const server = createServer(async (request, response) => {
    const body = request.method === 'POST' ? await json(request) : undefined
    const answer = routes[request.url ?? '']?.(body)
    response.writeHead(answer === undefined ? 409 : 200).end(JSON.stringify(answer ?? {}))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const address = server.address()
  return {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`,
    async close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

/** Asks the service how likely each answer is, draws one, and records it as its one token. */
export default defineAgent(z.object({ url: z.string() }), ({ url }) => ({
  name: 'softmax',
  async run({ prompt, seed, record, signal }) {
    const { probabilities, version } = policySchema.parse(await (await fetch(`${url}/policy`, { signal })).json())
    const token = draw(probabilities, (seed % 10_007) / 10_007)
    const [a = 0, b = 0] = (String(prompt).match(/\d+/g) ?? []).map(Number)
    const answer = String(a + b + (ANSWERS[token] ?? 0))
    const logprobs = Float32Array.of(Math.log(probabilities[token] ?? 1))
    const tokens = { prompt: Uint32Array.of(a, b), output: Uint32Array.of(token), logprobs }
    record({ role: 'assistant', text: answer, atMs: 0, tookMs: 0, tokens, ...(version === null ? {} : { version }) })
    return { answer, stop: 'done' }
  },
}))

/** The place in whose share of the sum `at` lies. */
function draw(shares: readonly number[], at: number): number {
  let sum = 0
  for (const [place, share] of shares.entries()) {
    sum += share
    if (at < sum) return place
  }
  return shares.length - 1
}
