/** What a policy is made of, and the two machines that work on it. The library behind them is known to `src/policy/jax` alone. */

/** A decoder-only transformer: learned positions, pre-norm blocks, no weight tying. */
export interface ModelShape {
  /** Tokens known. */
  readonly vocabulary: number
  /** Width of the residual stream, attention heads, and blocks. */
  readonly width: number
  readonly heads: number
  readonly layers: number
  /** Tokens of prompt and output together at most. */
  readonly context: number
}

/** All parameters by name, row-major. */
export type Weights = Readonly<Record<string, { readonly shape: readonly number[]; readonly values: Float32Array }>>

/** Weights with the optimiser's moments and what has been accumulated since its last step: everything training goes on from. */
export interface TrainingState {
  readonly weights: Weights
  readonly first: Weights
  readonly second: Weights
  /** Optimiser steps taken. */
  readonly step: number
  /** The gradient's sum since the last step; absent when nothing was accumulated. */
  readonly gradient?: Weights
}

export interface SampleRequest {
  /** Not empty; with `maxTokens` cut to what the context leaves. */
  readonly prompt: Uint32Array
  readonly maxTokens: number
  /** 0 takes the likeliest token. Log-probabilities are always those at temperature 1. */
  readonly temperature: number
  /** The same seed and weights give the same tokens, whatever else is sampled beside it. */
  readonly seed: number
  /** Ends the sequence; is part of the output. */
  readonly stopToken: number
}

export interface SampleResult {
  readonly output: Uint32Array
  /** Natural logarithms, one for each output token. */
  readonly logprobs: Float32Array
  readonly finish: 'stop' | 'length'
  /** The version that `load` gave to the weights which put it out. */
  readonly version: string
}

/** Puts out tokens: many sequences at once, joined and left at any token. */
export interface Sampler {
  /** Sequences under way end with the weights they began with, or begin anew; a result never mixes two versions. */
  load(weights: Weights, version: string): Promise<void>
  /** Rejects with `sampling-cancelled` after an abort. */
  sample(request: SampleRequest, signal?: AbortSignal): Promise<SampleResult>
  close(): Promise<void>
}

/** One turn to be trained on. */
export interface Datum {
  readonly prompt: Uint32Array
  readonly output: Uint32Array
  /** The sampling policy's, same length as `output`. */
  readonly logprobs: Float32Array
  readonly advantage: number
}

/**
 * What a token adds to the loss, with r = exp(logprob − sampling logprob) and its datum's advantage A; summed, not averaged.
 * The names and forms are those of the Tinker training service.
 */
export type Loss =
  /** −A · logprob: the advantage is the weight. */
  | { readonly name: 'cross_entropy' }
  /** −r · A */
  | { readonly name: 'importance_sampling' }
  /** −min(r · A, clip(r, low, high) · A) (Schulman et al. 2017, arXiv 1707.06347) */
  | { readonly name: 'ppo'; readonly low: number; readonly high: number }
  /** −stop(clip(r, low, high)) · A · logprob (MiniMax-M1, arXiv 2506.13585) */
  | { readonly name: 'cispo'; readonly low: number; readonly high: number }
  /** −(A · logprob − ½ · beta · (logprob − sampling logprob)²) (Richemond et al. 2024, arXiv 2405.19107) */
  | { readonly name: 'dro'; readonly beta: number }
  /** −w · logprob with a weight of its own for each token: the second half of a custom loss. */
  | { readonly name: 'weights'; readonly weights: readonly Float32Array[] }

export interface AccumulateResult {
  readonly loss: number
  readonly tokens: number
  /** Mean of sampling logprob − logprob over tokens, and the share of tokens whose ratio was clipped. */
  readonly kl: number
  readonly clipped: number
}

export interface AdamOptions {
  readonly learningRate: number
  readonly beta1: number
  readonly beta2: number
  readonly eps: number
  readonly weightDecay: number
}

/** Learns: gradients are summed until a step applies them. Calls are served one after the other. */
export interface PolicyTrainer {
  load(state: TrainingState): Promise<void>
  /** Rejects with `loss-not-finite` naming the datum; then nothing of the call is added. */
  accumulate(data: readonly Datum[], loss: Loss): Promise<AccumulateResult>
  /** Log-probabilities of every output token under the current weights. */
  logprobs(data: readonly Datum[]): Promise<readonly Float32Array[]>
  /** Adam; clears the gradient. Rejects with `nothing-accumulated`. */
  step(options: AdamOptions): Promise<Weights>
  state(): Promise<TrainingState>
  close(): Promise<void>
}
