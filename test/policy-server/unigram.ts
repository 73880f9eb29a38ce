/**
 * The two machines over the smallest policy there is: one logit for each token, whatever came before. Exact gradients by hand, so that
 * what the server does to them shows in the numbers.
 */
import { TroupeError } from '../../src/errors.ts'
import type {
  AdamOptions,
  Datum,
  Loss,
  PolicyTrainer,
  SampleRequest,
  SampleResult,
  Sampler,
  TrainingState,
  Weights,
} from '../../src/policy/policy.ts'
import type { CheckpointCodec } from '../../src/policy/server/blob-codec.ts'
import { makeRandom } from '../../src/random.ts'

export const VOCABULARY = 32
export const CONTEXT = 64

const single = (values: Float32Array): Weights => ({ logits: { shape: [VOCABULARY], values } })
const logitsOf = (weights: Weights): Float32Array => weights.logits?.values ?? new Float32Array(VOCABULARY)
const copy = (weights: Weights): Weights => single(logitsOf(weights).slice())

/** Token 0, which ends a reply, is likelier than the others. */
export function unigramBase(): TrainingState {
  const zero = () => single(new Float32Array(VOCABULARY))
  return { weights: single(new Float32Array(VOCABULARY).fill(0).with(0, 2)), first: zero(), second: zero(), step: 0 }
}

export function logSoftmax(logits: Float32Array): Float32Array {
  const highest = Math.max(...logits)
  const total = Math.log(logits.reduce((sum, logit) => sum + Math.exp(logit - highest), 0)) + highest
  return logits.map(logit => logit - total)
}

/** JSON, for people who look into a directory. */
export const unigramCheckpoints: CheckpointCodec = {
  encode: ({ weights, first, second, step }) =>
    Buffer.from(JSON.stringify([...[weights, first, second].map(each => [...logitsOf(each)]), step])),
  decode(bytes) {
    const [weights, first, second, step] = JSON.parse(Buffer.from(bytes).toString())
    const read = (values: number[]) => single(Float32Array.from(values))
    return { weights: read(weights), first: read(first), second: read(second), step }
  },
}

export interface FakeTrainer extends PolicyTrainer {
  readonly calls: string[]
}

export function makeUnigramTrainer(): FakeTrainer {
  let state = unigramBase()
  let gradient: Float32Array | undefined
  const calls: string[] = []
  return {
    calls,
    async load(next) {
      calls.push('load')
      state = { weights: copy(next.weights), first: copy(next.first), second: copy(next.second), step: next.step }
      gradient = next.gradient && logitsOf(next.gradient).slice()
    },
    async accumulate(data, loss) {
      calls.push('accumulate')
      const logprobs = logSoftmax(logitsOf(state.weights))
      const sum = new Float32Array(VOCABULARY)
      const totals = { loss: 0, tokens: 0, kl: 0, clipped: 0 }
      for (const [index, datum] of data.entries())
        for (const [place, token] of datum.output.entries()) {
          const now = logprobs[token] ?? 0
          const before = datum.logprobs[place] ?? 0
          const weight = loss.name === 'weights' ? (loss.weights[index]?.[place] ?? 0) : datum.advantage
          const { value, slope } = tokenTerm(loss, weight, now, before)
          if (!Number.isFinite(value)) throw notFinite(index)
          totals.loss += value
          totals.tokens += 1
          totals.kl += before - now
          for (let id = 0; id < VOCABULARY; id += 1)
            sum[id] = (sum[id] ?? 0) + slope * ((id === token ? 1 : 0) - Math.exp(logprobs[id] ?? 0))
        }
      const earlier = gradient ?? new Float32Array(VOCABULARY)
      gradient = sum.map((value, id) => value + (earlier[id] ?? 0))
      return { ...totals, kl: totals.kl / totals.tokens, clipped: 0 }
    },
    async logprobs(data: readonly Datum[]) {
      calls.push('logprobs')
      const logprobs = logSoftmax(logitsOf(state.weights))
      return data.map(({ output }) => Float32Array.from(output, token => logprobs[token] ?? 0))
    },
    async step({ learningRate, beta1, beta2, eps }: AdamOptions) {
      calls.push('step')
      if (gradient === undefined) throw new TroupeError({ tag: 'nothing-accumulated', message: 'nothing' })
      const step = state.step + 1
      const slopes = gradient
      const first = logitsOf(state.first).map((mean, id) => beta1 * mean + (1 - beta1) * (slopes[id] ?? 0))
      const second = logitsOf(state.second).map((mean, id) => beta2 * mean + (1 - beta2) * (slopes[id] ?? 0) ** 2)
      const weights = logitsOf(state.weights).map((logit, id) => {
        const mean = (first[id] ?? 0) / (1 - beta1 ** step)
        return logit - (learningRate * mean) / (Math.sqrt((second[id] ?? 0) / (1 - beta2 ** step)) + eps)
      })
      state = { weights: single(weights), first: single(first), second: single(second), step }
      gradient = undefined
      return copy(state.weights)
    },
    state: async () => ({
      weights: copy(state.weights),
      first: copy(state.first),
      second: copy(state.second),
      step: state.step,
      ...(gradient === undefined ? {} : { gradient: single(gradient.slice()) }),
    }),
    close: async () => void calls.push('close'),
  }
}

export interface FakeSampler extends Sampler {
  /** Requests under way. */
  readonly open: () => number
  readonly cancelled: () => number
  /** While set, requests wait for it. */
  hold: Promise<void> | undefined
}

export function makeUnigramSampler(): FakeSampler {
  let weights = unigramBase().weights
  let version = ''
  let open = 0
  let cancelled = 0
  const sampler: FakeSampler = {
    hold: undefined,
    open: () => open,
    cancelled: () => cancelled,
    async load(next, name) {
      weights = copy(next)
      version = name
    },
    async sample(request, signal) {
      open += 1
      try {
        if (sampler.hold !== undefined) await untilAborted(sampler.hold, signal)
        return draw(request, logitsOf(weights), version)
      } catch (error) {
        cancelled += 1
        throw error
      } finally {
        open -= 1
      }
    },
    close: async () => {},
  }
  return sampler
}

function draw(request: SampleRequest, logits: Float32Array, version: string): SampleResult {
  const random = makeRandom(request.seed)
  const logprobs = logSoftmax(logits)
  const tempered = logSoftmax(logits.map(logit => logit / Math.max(request.temperature, 1e-3)))
  const output: number[] = []
  while (output.length < request.maxTokens && output.at(-1) !== request.stopToken) {
    let left = random()
    const token = tempered.findIndex(logprob => {
      left -= Math.exp(logprob)
      return left < 0
    })
    output.push(Math.max(0, token))
  }
  return {
    output: Uint32Array.from(output),
    logprobs: Float32Array.from(output, token => logprobs[token] ?? 0),
    finish: output.at(-1) === request.stopToken ? 'stop' : 'length',
    version,
  }
}

function untilAborted(held: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.addEventListener('abort', () =>
      reject(new TroupeError({ tag: 'sampling-cancelled', message: 'cancelled' })),
    )
    held.then(resolve, reject)
  })
}

/** A token's share of the loss and minus nothing: its slope over the logits is `slope` times that of its log-probability. */
function tokenTerm(loss: Loss, weight: number, now: number, before: number): { value: number; slope: number } {
  const ratio = Math.exp(now - before)
  switch (loss.name) {
    case 'cross_entropy':
    case 'weights':
      return { value: -weight * now, slope: -weight }
    case 'importance_sampling':
      return { value: -ratio * weight, slope: -ratio * weight }
    case 'ppo':
    case 'cispo': {
      const held = Math.min(loss.high, Math.max(loss.low, ratio))
      return { value: -held * weight, slope: held === ratio ? -ratio * weight : 0 }
    }
    case 'dro':
      return {
        value: -(weight * now - 0.5 * loss.beta * (now - before) ** 2),
        slope: -(weight - loss.beta * (now - before)),
      }
  }
}

function notFinite(datum: number): TroupeError {
  return new TroupeError({ tag: 'loss-not-finite', message: `datum ${datum}`, details: { datum } })
}
