/** What a policy's threads are told, and what they tell. Typed arrays of weights are transferred, never copied twice. */
import type { ErrorData } from '../../errors.ts'
import type { SamplerOptions } from '../jax/sampler.ts'
import type {
  AdamOptions,
  Datum,
  Loss,
  ModelShape,
  PolicyTrainer,
  SampleRequest,
  Sampler,
  TrainingState,
  Weights,
} from '../policy.ts'

/** What a thread is started with. */
export type ThreadStart =
  | { readonly machine: 'sampler'; readonly shape: ModelShape; readonly options: SamplerOptions }
  | { readonly machine: 'trainer'; readonly shape: ModelShape }

export type SamplerCall =
  | { readonly call: 'load'; readonly weights: Weights; readonly version: string }
  | { readonly call: 'sample'; readonly request: SampleRequest }

export type TrainerCall =
  | { readonly call: 'load'; readonly state: TrainingState }
  | { readonly call: 'accumulate'; readonly data: readonly Datum[]; readonly loss: Loss }
  | { readonly call: 'logprobs'; readonly data: readonly Datum[] }
  | { readonly call: 'step'; readonly options: AdamOptions }
  | { readonly call: 'state' }

/** A call has an id, by which it is answered or cancelled; `close` is answered by the thread's end. */
export type ToThread<Call> =
  | { readonly type: 'call'; readonly id: number; readonly body: Call }
  | { readonly type: 'cancel'; readonly id: number }
  | { readonly type: 'close' }

export type FromThread =
  | { readonly type: 'answer'; readonly id: number; readonly value: unknown }
  | { readonly type: 'error'; readonly id: number; readonly error: ErrorData }

/** What each call is answered with. */
export interface SamplerAnswers {
  readonly load: Awaited<ReturnType<Sampler['load']>>
  readonly sample: Awaited<ReturnType<Sampler['sample']>>
}

export interface TrainerAnswers {
  readonly load: Awaited<ReturnType<PolicyTrainer['load']>>
  readonly accumulate: Awaited<ReturnType<PolicyTrainer['accumulate']>>
  readonly logprobs: Awaited<ReturnType<PolicyTrainer['logprobs']>>
  readonly step: Awaited<ReturnType<PolicyTrainer['step']>>
  readonly state: Awaited<ReturnType<PolicyTrainer['state']>>
}
