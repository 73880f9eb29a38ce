import type { DispatcherMessage, HoldCreates, TakeTokens } from '../../actors/cluster-messages.ts'
import type { Clock } from '../clock.ts'
import { makeSharedBucket, type SharedBucket } from '../cluster/shared-bucket.ts'
import type { Ref } from '../kernel/ref.ts'
import type { ActorSystem } from '../kernel/system.ts'
import type { Runtime } from '../runtimes/runtime.ts'

/** A worker's parts of the limits on creates that a job's coordinator keeps. */
export interface WorkerLimitParts {
  /** Has the runtime's creates keep to them. */
  shared(runtime: Runtime): Runtime
  /** The provider has told another worker to stay away. */
  hold(held: Pick<HoldCreates, 'account' | 'forMs'>): void
}

/** For an answer; a sandbox waits for it. */
const ANSWER_MS = 1_000

export function makeWorkerLimits(
  system: ActorSystem,
  dispatcher: Ref<DispatcherMessage>,
  clock: Clock,
  over: AbortSignal,
): WorkerLimitParts {
  const buckets = new Map<string, SharedBucket>()

  function make(account: string): SharedBucket {
    const known = buckets.get(account)
    if (known !== undefined) return known
    const made = makeSharedBucket({
      account,
      clock,
      ask(asked) {
        const question: TakeTokens = { type: 'take-tokens', ...asked }
        return system.ask(dispatcher, question, ANSWER_MS)
      },
      giveBack: given => dispatcher.tell({ type: 'give-tokens-back', ...given }),
      tellHold: forMs => dispatcher.tell({ type: 'hold-creates', account, forMs }),
      over,
    })
    buckets.set(account, made)
    return made
  }

  return {
    shared(runtime) {
      runtime.shareCreates?.(make)
      return runtime
    },
    hold: ({ account, forMs }) => buckets.get(account)?.hold(forMs),
  }
}
