/** One request on its way: what has been put out for it, and how its caller hears of the end. */
import { makeRandom } from '../../random.ts'
import { badSampleRequest, outputNotFinite, samplingCancelled } from '../errors.ts'
import { pickToken } from '../pick-token.ts'
import type { ModelShape, SampleRequest, SampleResult } from '../policy.ts'

export interface Sequence {
  readonly prompt: Uint32Array
  readonly ended: boolean
  /** The token that is fed next, and its position. */
  next(): { readonly token: number; readonly position: number }
  /** Takes one token from the logits of the next; ends the sequence where it is the last. */
  take(logits: Float32Array, version: string): void
  /** Forgets the output: the sequence begins anew. */
  restart(): void
  fail(error: unknown): void
}

export interface SequenceEnds {
  resolve(result: SampleResult): void
  reject(error: unknown): void
  /** Called once, whatever the end. */
  onEnd(sequence: Sequence): void
}

/** Throws `bad-sample-request`. */
export function makeSequence(
  request: SampleRequest,
  shape: ModelShape,
  ends: SequenceEnds,
  signal?: AbortSignal,
): Sequence {
  checkRequest(request, shape)
  const { prompt, temperature, seed, stopToken } = request
  const limit = Math.min(request.maxTokens, shape.context - prompt.length)
  let random = makeRandom(seed)
  let output: number[] = []
  let chosen: number[] = []
  let ended = false
  const end = (tell: () => void) => {
    if (ended) return
    ended = true
    signal?.removeEventListener('abort', onAbort)
    tell()
    ends.onEnd(sequence)
  }
  const onAbort = () => end(() => ends.reject(samplingCancelled()))
  const sequence: Sequence = {
    prompt,
    get ended() {
      return ended
    },
    next: () => ({ token: output.at(-1) ?? prompt.at(-1) ?? 0, position: prompt.length + output.length - 1 }),
    take(logits, version) {
      const { token, logprob } = pickToken(logits, temperature, random)
      if (!Number.isFinite(logprob)) return sequence.fail(outputNotFinite(version))
      output.push(token)
      chosen.push(logprob)
      if (token !== stopToken && output.length < limit) return
      const finish = token === stopToken ? 'stop' : 'length'
      end(() =>
        ends.resolve({ output: Uint32Array.from(output), logprobs: Float32Array.from(chosen), finish, version }),
      )
    },
    restart() {
      random = makeRandom(seed)
      output = []
      chosen = []
    },
    fail: error => end(() => ends.reject(error)),
  }
  signal?.addEventListener('abort', onAbort, { once: true })
  return sequence
}

function checkRequest(request: SampleRequest, { context, vocabulary }: ModelShape): void {
  const { prompt, maxTokens, temperature, seed, stopToken } = request
  if (prompt.length === 0) throw badSampleRequest('the prompt is empty')
  if (prompt.length >= context)
    throw badSampleRequest(`a prompt of ${prompt.length} tokens leaves no room in a context of ${context}`)
  const stranger = prompt.find(token => token >= vocabulary)
  if (stranger !== undefined) throw badSampleRequest(`token ${stranger} is not among the ${vocabulary} known`)
  if (!Number.isSafeInteger(maxTokens) || maxTokens < 1) throw badSampleRequest(`maxTokens is ${maxTokens}`)
  if (!(temperature >= 0 && Number.isFinite(temperature))) throw badSampleRequest(`the temperature is ${temperature}`)
  if (!Number.isSafeInteger(seed)) throw badSampleRequest(`the seed is ${seed}`)
  if (!Number.isSafeInteger(stopToken) || stopToken < 0) throw badSampleRequest(`the stop token is ${stopToken}`)
}
