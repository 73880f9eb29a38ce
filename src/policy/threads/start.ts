/** Samplers and trainers in threads of their own: the same contracts, so that nobody need know. */
import { samplingCancelled } from '../errors.ts'
import type { SamplerOptions } from '../jax/sampler.ts'
import type { ModelShape, PolicyTrainer, Sampler } from '../policy.ts'
import { buffersOf, copyWeights } from '../weights.ts'
import type { SamplerAnswers, SamplerCall, TrainerAnswers, TrainerCall } from './messages.ts'
import { startThread } from './thread.ts'

/** A sampler in a worker thread. When the thread ends unasked, all that waits rejects with `policy-thread-lost`. */
export function startSamplerThread(shape: ModelShape, options: SamplerOptions = {}): Sampler {
  const thread = startThread<SamplerCall>({ machine: 'sampler', shape, options })
  const ask = <Name extends keyof SamplerAnswers>(
    body: Extract<SamplerCall, { call: Name }>,
    more?: Parameters<typeof thread.ask>[1],
  ) => thread.ask(body, more) as Promise<SamplerAnswers[Name]>
  return {
    load(weights, version) {
      const sent = copyWeights(weights)
      return ask<'load'>({ call: 'load', weights: sent, version }, { transfer: buffersOf(sent) })
    },
    async sample(request, signal) {
      if (signal?.aborted) throw samplingCancelled()
      return ask<'sample'>({ call: 'sample', request }, { signal })
    },
    close: () => thread.close(),
  }
}

/** A trainer in a worker thread. When the thread ends unasked, all that waits rejects with `policy-thread-lost`. */
export function startTrainerThread(shape: ModelShape): PolicyTrainer {
  const thread = startThread<TrainerCall>({ machine: 'trainer', shape })
  const ask = <Name extends keyof TrainerAnswers>(body: Extract<TrainerCall, { call: Name }>) =>
    thread.ask(body) as Promise<TrainerAnswers[Name]>
  return {
    load: state => ask<'load'>({ call: 'load', state }),
    accumulate: (data, loss) => ask<'accumulate'>({ call: 'accumulate', data, loss }),
    logprobs: data => ask<'logprobs'>({ call: 'logprobs', data }),
    step: options => ask<'step'>({ call: 'step', options }),
    state: () => ask<'state'>({ call: 'state' }),
    close: () => thread.close(),
  }
}
