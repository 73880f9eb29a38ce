import type { ZodType } from 'zod'
import { type Clock, systemClock } from '../../clock.ts'
import { hasTag } from '../../errors.ts'
import { deliveryOf } from '../../models/errors.ts'
import type { Run } from '../../rollout/run.ts'
import { combineResults } from '../combine-results.ts'
import { callFailed } from '../errors.ts'
import { InTurn } from '../in-turn.ts'
import { optimStepBody } from '../payload.ts'
import { type SampleOptions, toSamples } from '../samples.ts'
import type {
  AccumulatedState,
  ForwardBackwardOptions,
  ForwardBackwardResult,
  OptimStepOptions,
  PolicyStep,
  Trainer,
} from '../trainer.ts'
import { notACheckpoint, nothingAccumulated } from './errors.ts'
import { TinkerApi, type TinkerApiOptions } from './tinker-api.ts'
import { centred, type Part, toParts } from './tinker-data.ts'

/** What is trained on a Tinker-compatible service, and where that is. */
export interface TinkerOptions extends TinkerApiOptions {
  /** What the LoRA adapter is put on, for instance `Qwen/Qwen3-8B`. */
  readonly baseModel: string
  /** Of the adapter. Default 32. */
  readonly rank?: number
  /** The policy version that a training was left at: a new model is made from that checkpoint, its optimiser's state included. */
  readonly resumeFrom?: string
  /** The advantages of a group's rewards. Default: r − mean, as Tinker's cookbook takes them. */
  readonly advantages?: NonNullable<SampleOptions['advantages']>
}

/** One continuation that was sampled. */
export interface TinkerSample {
  readonly tokens: readonly number[]
  readonly logprobs: readonly number[]
  readonly stopReason: string
}

const replies = () => import('./tinker-replies.ts')

const DEFAULT_RANK = 32
/** Sessions whose client is silent end. */
const HEARTBEAT_MS = 10_000
const MAX_WAITING = 64
/** Of saving weights, which may be tried again: it changes none. */
const SAVE_ATTEMPTS = 3

/**
 * Trains through Tinker's HTTP API, or anything with its surface. Checked against a local server of its public shapes, never against the
 * service. Every optimiser step saves the training's state and the weights to sample from under one name; the second's path is the
 * policy's version. A later process opens the training anew from its last version, and what was not saved is sent again.
 */
export class TinkerTrainer implements Trainer, AsyncDisposable {
  readonly model: string
  readonly #api: TinkerApi
  readonly #options: TinkerOptions
  readonly #modelId: string
  readonly #inTurn = new InTurn(MAX_WAITING)
  readonly #endHeartbeat: () => void
  /** Counts the requests of the model: the service takes them in this order. */
  #sequence: number
  #step: number
  #version: string | null
  #calls = 0

  private constructor(api: TinkerApi, options: TinkerOptions, opened: Opened, endHeartbeat: () => void) {
    this.#api = api
    this.#options = options
    this.model = options.baseModel
    this.#modelId = opened.modelId
    this.#sequence = opened.sequence
    this.#version = options.resumeFrom ?? null
    this.#step = opened.step
    this.#endHeartbeat = endHeartbeat
  }

  /** Makes a session and a model in it. Rejects with `not-a-checkpoint`, `no-key`, and what the service answers. */
  static async open(options: TinkerOptions): Promise<TinkerTrainer> {
    const step = options.resumeFrom === undefined ? 0 : readStep(options.resumeFrom)
    const api = new TinkerApi(options)
    let endHeartbeat = () => {}
    try {
      const { modelReply, sessionReply } = await replies()
      const session = { tags: ['troupe'], user_metadata: null, sdk_version: 'troupe' }
      const { session_id } = await api.post('create_session', session, sessionReply)
      endHeartbeat = beat(api, session_id, options.clock ?? systemClock)
      const { model_id } = await api.call(
        'create_model',
        {
          session_id,
          model_seq_id: 0,
          base_model: options.baseModel,
          lora_config: { rank: options.rank ?? DEFAULT_RANK },
        },
        modelReply,
      )
      const sequence = await load(api, model_id, options.resumeFrom)
      return new TinkerTrainer(api, options, { modelId: model_id, sequence, step }, endHeartbeat)
    } catch (error) {
      endHeartbeat()
      await api.close()
      throw error
    }
  }

  /** Throws what `toSamples` throws before anything is sent; later the error's details hold `accepted`, `rejected` and `unknown` group ids. */
  async forwardBackward(runs: readonly Run[], options: ForwardBackwardOptions = {}): Promise<ForwardBackwardResult> {
    const { groupSize, rewardScale = 1 } = options
    const advantages = this.#options.advantages ?? centred
    const samples = toSamples(runs, { ...(groupSize === undefined ? {} : { groupSize }), rewardScale, advantages })
    return this.#inTurn.run(async () => {
      const parts = toParts(samples)
      const results: ForwardBackwardResult[] = []
      try {
        for (const part of parts) results.push(await this.#accumulate(part, options))
      } catch (error) {
        if (results.length > 0 || deliveryOf(error) !== 'rejected') this.#calls += 1
        throw callFailed(error, toCallState(parts, results.length, deliveryOf(error) === 'rejected'))
      }
      this.#calls += 1
      return combineResults(results)
    })
  }

  async optimStep(options: OptimStepOptions): Promise<PolicyStep> {
    // For its checks: Tinker's body is another, and leaves to the service what was not said.
    optimStepBody(options)
    const { learningRate, beta1, beta2, eps, weightDecay } = options
    return this.#inTurn.run(async () => {
      if (this.#calls === 0) throw nothingAccumulated()
      const { anyReply } = await replies()
      const adam_params = { learning_rate: learningRate, beta1, beta2, eps, weight_decay: weightDecay }
      await this.#call('optim_step', { adam_params }, anyReply)
      this.#calls = 0
      this.#step += 1
      const name = `step-${String(this.#step).padStart(6, '0')}`
      await this.#save('save_weights', name)
      this.#version = await this.#save('save_weights_for_sampler', name)
      return { policyVersion: this.#version, step: this.#step }
    })
  }

  async policyVersion(): Promise<string | null> {
    return this.#inTurn.run(async () => this.#version)
  }

  async state(): Promise<AccumulatedState> {
    return this.#inTurn.run(async () => ({ step: this.#step, calls: this.#calls }))
  }

  /** Continuations of a prompt by the newest version, for an agent of one's own: rendering and reading text is its affair. */
  async sample(
    prompt: readonly number[],
    options: {
      readonly maxTokens: number
      readonly temperature?: number
      readonly seed?: number
      readonly count?: number
    },
  ): Promise<{ readonly version: string | null; readonly samples: readonly TinkerSample[] }> {
    const { maxTokens, temperature = 1, seed, count = 1 } = options
    const version = this.#version
    const { sampleReply } = await replies()
    const { sequences } = await this.#api.call(
      'asample',
      {
        prompt: { chunks: [{ type: 'encoded_text', tokens: prompt }] },
        num_samples: count,
        sampling_params: { max_tokens: maxTokens, temperature, seed },
        ...(version === null ? { base_model: this.#options.baseModel } : { model_path: version }),
      },
      sampleReply,
    )
    return {
      version,
      samples: sequences.map(({ tokens, logprobs, stop_reason }) => ({
        tokens,
        logprobs: logprobs ?? [],
        stopReason: stop_reason,
      })),
    }
  }

  async close(): Promise<void> {
    this.#endHeartbeat()
    await this.#api.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #call<Reply>(route: string, rest: object, schema: ZodType<Reply>): Promise<Reply> {
    this.#sequence += 1
    try {
      return await this.#api.call(route, { model_id: this.#modelId, seq_id: this.#sequence, ...rest }, schema)
    } catch (error) {
      // A number that never arrived would be waited for.
      if (deliveryOf(error) === 'rejected' && !hasTag(error, 'tinker-request-failed')) this.#sequence -= 1
      throw error
    }
  }

  async #accumulate({ data }: Part, { lossFn = 'importance_sampling', lossFnConfig }: ForwardBackwardOptions) {
    const { forwardBackwardReply } = await replies()
    const input = { data, loss_fn: lossFn, ...(lossFnConfig === undefined ? {} : { loss_fn_config: lossFnConfig }) }
    const { metrics } = await this.#call('forward_backward', { forward_backward_input: input }, forwardBackwardReply)
    return { metrics, numDatums: data.length }
  }

  /** Resolves with the path. The step has happened: without its weights it would be lost. */
  async #save(route: 'save_weights' | 'save_weights_for_sampler', path: string): Promise<string> {
    const { pathReply } = await replies()
    for (let attempt = 1; ; attempt += 1) {
      try {
        return (await this.#call(route, { path }, pathReply)).path
      } catch (error) {
        if (attempt === SAVE_ATTEMPTS || deliveryOf(error) === 'rejected') throw error
      }
    }
  }
}

interface Opened {
  readonly modelId: string
  readonly sequence: number
  readonly step: number
}

const VERSION = /^(tinker:\/\/[^/]+)\/sampler_weights\/(step-(\d+))$/

function readStep(version: string): number {
  const step = VERSION.exec(version)?.[3]
  if (step === undefined) throw notACheckpoint(version)
  return Number(step)
}

/** Resolves with the model's count of requests. */
async function load(api: TinkerApi, model_id: string, version: string | undefined): Promise<number> {
  if (version === undefined) return 0
  const { anyReply } = await replies()
  const [, run = '', name = ''] = VERSION.exec(version) ?? []
  await api.call('load_weights', { model_id, seq_id: 1, path: `${run}/weights/${name}`, optimizer: true }, anyReply)
  return 1
}

function beat(api: TinkerApi, session_id: string, clock: Clock): () => void {
  let cancel = () => {}
  const next = () => {
    cancel = clock.after(HEARTBEAT_MS, async () => {
      const { anyReply } = await replies()
      // One that is missed is no failure: the next call says what is wrong.
      await api.post('session_heartbeat', { session_id }, anyReply).catch(() => {})
      if (isOn) next()
    })
  }
  let isOn = true
  next()
  return () => {
    isOn = false
    cancel()
  }
}

/** `done` parts were accepted, the next one failed, and no more was sent. A group of several parts is accepted with the last of them. */
function toCallState(parts: readonly Part[], done: number, isRejected: boolean) {
  const groups = [...new Set(parts.flatMap(({ groupIds }) => [...groupIds]))]
  const among = (some: readonly Part[], groupId: string) => some.some(({ groupIds }) => groupIds.has(groupId))
  const begun = parts.slice(0, isRejected ? done : done + 1)
  const accepted = groups.filter(id => among(parts.slice(0, done), id) && !among(parts.slice(done), id))
  const unknown = groups.filter(id => among(begun, id) && !accepted.includes(id))
  return { accepted, unknown, rejected: groups.filter(id => !accepted.includes(id) && !unknown.includes(id)) }
}
