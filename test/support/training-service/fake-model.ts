import { randomUUID } from 'node:crypto'
import {
  backwardBody,
  forwardBackwardBody,
  forwardBody,
  headBody,
  type Inputs,
  optimStepBody,
  read,
  type Sample,
} from './bodies.ts'
import { refuse } from './wire-refusal.ts'

interface WireCheckpoint {
  readonly id: string
  readonly name: string
  readonly prev_model_checkpoint_id: string | null
  readonly is_active: boolean
  readonly created_at: string
  readonly num_datums: number
  readonly learning_rate: number
  readonly metrics: Readonly<Record<string, number>>
}

const LOSSES = ['cross_entropy', 'importance_sampling', 'ppo', 'cispo', 'dro']

/** One model of the fake service: what was accumulated, and the tree of checkpoints. Its loss is 1 for each output token. */
export class FakeModel {
  readonly id: string
  readonly slug: string
  checkpoints: WireCheckpoint[] = []
  step = 0
  /** Samples since the last step, each as often as it was counted. */
  accumulated: Sample[] = []
  /** Whether anything accumulated had a gradient. */
  hasGradient = false
  readonly #passes = new Map<string, readonly Sample[]>()

  constructor(id: string, slug: string) {
    this.id = id
    this.slug = slug
  }

  entry(): unknown {
    return {
      id: this.id,
      name: this.slug.toUpperCase(),
      model_name: this.slug,
      provider: { name: 'fake' },
      is_trainable: true,
    }
  }

  fork(id: string, slug: string): FakeModel {
    const forked = new FakeModel(id, slug)
    forked.checkpoints = this.checkpoints.filter(node => node.is_active).map(node => ({ ...node, id: randomUUID() }))
    return forked
  }

  train(method: string, route: string, body: unknown): unknown {
    if (method === 'GET' && route === 'losses') return { losses: LOSSES }
    if (method !== 'POST') return refuse(405, 'Method Not Allowed')
    if (route === 'forward-backward') return this.#forwardBackward(body)
    if (route === 'forward') return this.#forward(body)
    if (route === 'backward') return this.#backward(body)
    return route === 'optim-step' ? this.#optimStep(body) : refuse(404, 'Not Found')
  }

  setHead(body: unknown): unknown {
    const { checkpoint_id: wanted } = read(headBody, body)
    if (!this.checkpoints.some(({ id }) => id === wanted)) refuse(404, `there is no checkpoint ${wanted}`)
    this.checkpoints = this.checkpoints.map(node => ({ ...node, is_active: node.id === wanted }))
    return {}
  }

  #forwardBackward(body: unknown): unknown {
    const { inputs, group_size: groupSize, loss_fn: lossFn } = read(forwardBackwardBody, body)
    if (!LOSSES.includes(lossFn)) refuse(400, `there is no loss ${lossFn}`)
    checkGroups(inputs, groupSize)
    const samples = samplesOf(inputs)
    return this.#add(samples, hasSpread(inputs, groupSize ?? inputs.length))
  }

  #forward(body: unknown): unknown {
    const { inputs, group_size: groupSize } = read(forwardBody, body)
    checkGroups(inputs, groupSize)
    const forwardId = randomUUID()
    this.#passes.set(forwardId, samplesOf(inputs))
    const data = inputs.flatMap((input, index) =>
      typeof input === 'string'
        ? []
        : input.samples.map(({ output_logprobs: logprobs }) => ({
            reward: input.reward,
            traj_idx: index,
            group_idx: groupSize === undefined ? null : Math.floor(index / groupSize),
            logprobs,
            sampling_logprobs: logprobs,
            mask: logprobs.map(() => 1),
          })),
    )
    return { forward_id: forwardId, data }
  }

  #backward(body: unknown): unknown {
    const { forward_id: forwardId, weights } = read(backwardBody, body)
    const samples = this.#passes.get(forwardId) ?? refuse(404, `there is no forward pass ${forwardId}`)
    const fits = samples.every((sample, datum) => weights[datum]?.length === sample.output_token_ids.length)
    if (!fits || weights.length !== samples.length) refuse(422, 'weights do not fit the forward pass')
    this.#passes.delete(forwardId)
    return this.#add(
      samples,
      weights.some(row => row.some(weight => weight !== 0)),
    )
  }

  #add(samples: readonly Sample[], hasGradient: boolean): unknown {
    this.accumulated.push(...samples)
    this.hasGradient ||= hasGradient
    const tokens = samples.reduce((sum, sample) => sum + sample.output_token_ids.length, 0)
    return { metrics: { 'loss:sum': tokens, 'tokens:mean': tokens / samples.length }, num_datums: samples.length }
  }

  #optimStep(body: unknown): unknown {
    const { learning_rate: learningRate } = read(optimStepBody, body)
    if (!this.hasGradient) refuse(400, 'nothing was accumulated since the last step')
    this.step += 1
    const checkpoint: WireCheckpoint = {
      id: randomUUID(),
      name: `step-${this.step}`,
      prev_model_checkpoint_id: this.checkpoints.find(node => node.is_active)?.id ?? null,
      is_active: true,
      created_at: new Date(0).toISOString(),
      num_datums: this.accumulated.length,
      learning_rate: learningRate,
      metrics: {},
    }
    this.checkpoints = [...this.checkpoints.map(node => ({ ...node, is_active: false })), checkpoint]
    this.accumulated = []
    this.hasGradient = false
    const path = `fake://${this.id}/${this.step}`
    return { step: this.step, checkpoint_id: checkpoint.id, sampler_path: path, state_path: path, model: this.slug }
  }
}

function checkGroups(inputs: Inputs, groupSize: number | undefined): void {
  if (groupSize !== undefined && inputs.length % groupSize !== 0)
    refuse(422, `${inputs.length} inputs do not divide into groups of ${groupSize}`)
}

function samplesOf(inputs: Inputs): Sample[] {
  return inputs.flatMap(input => (typeof input === 'string' ? [] : input.samples))
}

function hasSpread(inputs: Inputs, groupSize: number): boolean {
  const rewards = inputs.map(input => (typeof input === 'string' ? Number.NaN : input.reward))
  return rewards.some((reward, place) => reward !== rewards[place - (place % groupSize)])
}
