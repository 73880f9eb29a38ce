/** Supervised training of a base policy from demonstrations; the same source and seed give the same policy. */
import { makeRandom, mixSeed } from '../../random.ts'
import { type ChatFormat, makeChatFormat } from '../chat-format.ts'
import { badWarmUp, demonstrationTooLong } from '../errors.ts'
import { makeJaxTrainer } from '../jax/trainer.ts'
import type { Datum, ModelShape, PolicyTrainer } from '../policy.ts'
import type { PolicyContents } from '../policy-contents.ts'
import { learnTokenizer, makeTokenizer } from '../tokenizer.ts'
import { initWeights, sharpenHead, zeroWeights } from '../weights.ts'
import type { Demonstration, DemonstrationSource, WarmUpSettings } from './demonstrations.ts'
import { learningRateAt } from './schedule.ts'

const ADAM = { beta1: 0.9, beta2: 0.99, eps: 1e-8, weightDecay: 0 }

/** How far a warm-up has come. */
export interface WarmUpStep {
  /** From 1. */
  readonly step: number
  readonly steps: number
  /** Mean of −logprob over the demonstrated tokens. */
  readonly loss: number
  readonly tokens: number
}

/** How one warm-up differs from what its source says. */
export interface WarmUpOptions {
  /** In place of the source's. */
  readonly seed?: number
  readonly onStep?: (step: WarmUpStep) => void
}

/** A policy's contents, with its settings in `made`. Rejects with `demonstration-too-long`, `bad-warm-up` or `not-encodable`. */
export async function warmUp(source: DemonstrationSource, options: WarmUpOptions = {}): Promise<PolicyContents> {
  const settings = { ...source.settings, ...(options.seed === undefined ? {} : { seed: options.seed }) }
  checkSettings(source.name, settings)
  const tokenizer = makeTokenizer(learnTokenizer(source.corpus(), settings.merges))
  const { width, heads, layers, context } = settings
  const shape: ModelShape = { vocabulary: tokenizer.vocabulary, width, heads, layers, context }
  const format = makeChatFormat(tokenizer, shape)
  const trainer = await makeJaxTrainer(shape)
  try {
    await trainer.load({
      weights: initWeights(shape, mixSeed(settings.seed, 0)),
      first: zeroWeights(shape),
      second: zeroWeights(shape),
      step: 0,
    })
    const random = makeRandom(mixSeed(settings.seed, 1))
    let last: WarmUpStep | undefined
    for (let step = 1; step <= settings.steps; step += 1) {
      const drawn = Array.from({ length: settings.batch }, () => source.draw(random)).flat()
      const { loss, tokens } = await learn(trainer, toData(source, format, shape, drawn), step, settings)
      last = { step, steps: settings.steps, loss, tokens }
      options.onStep?.(last)
    }
    const { weights } = await trainer.state()
    return {
      name: source.name,
      shape,
      tokenizer: tokenizer.data,
      made: { source: source.name, settings, loss: last?.loss ?? null },
      weights: sharpenHead(weights, settings.sharpen),
    }
  } finally {
    await trainer.close()
  }
}

async function learn(trainer: PolicyTrainer, data: readonly Datum[], step: number, settings: WarmUpSettings) {
  const result = await trainer.accumulate(data, { name: 'cross_entropy' })
  await trainer.step({ ...ADAM, learningRate: learningRateAt(step, settings) })
  return result
}

/** Each token weighs the same, and all together 1: the loss is their mean. */
function toData(
  { name, tools }: DemonstrationSource,
  format: ChatFormat,
  { context }: ModelShape,
  drawn: readonly Demonstration[],
): Datum[] {
  const turns = drawn.map(turn => {
    const prompt = format.toPrompt(turn.context, tools)
    const output = format.toOutput(turn.reply, tools)
    if (prompt.length + output.length > context)
      throw demonstrationTooLong(name, prompt.length + output.length, context)
    return { prompt, output, logprobs: new Float32Array(output.length) }
  })
  const tokens = turns.reduce((sum, { output }) => sum + output.length, 0)
  if (tokens === 0) throw badWarmUp(name, 'it drew no demonstration')
  return turns.map(turn => ({ ...turn, advantage: 1 / tokens }))
}

function checkSettings(source: string, { steps, batch, merges, learningRate, sharpen, seed }: WarmUpSettings): void {
  for (const [name, value] of Object.entries({ steps, batch }))
    if (!Number.isSafeInteger(value) || value < 1) throw badWarmUp(source, `${name} is ${value}`)
  if (!Number.isSafeInteger(merges) || merges < 0) throw badWarmUp(source, `merges is ${merges}`)
  for (const [name, value] of Object.entries({ learningRate, sharpen }))
    if (!(value > 0 && Number.isFinite(value))) throw badWarmUp(source, `${name} is ${value}`)
  if (!Number.isSafeInteger(seed)) throw badWarmUp(source, `the seed is ${seed}`)
}
