import type { DispatcherMessage, HoldCreates, TakeTokens } from '../../actors/cluster-messages.ts'
import type { Clock } from '../clock.ts'
import { limitKeptByNobody } from '../cluster/errors.ts'
import { makeSharedBucket, type SharedBucket } from '../cluster/shared-bucket.ts'
import type { Ref } from '../kernel/ref.ts'
import type { ActorSystem } from '../kernel/system.ts'
import type { Runtime } from '../runtimes/runtime.ts'

/** A worker's parts of the limits on creates, for all jobs that it works for: of an account it has one, whichever job it creates for. */
export interface WorkerAccounts {
  /** The coordinator of a job that it works for, which it may ask. Returns what ends that. */
  join(dispatcher: Ref<DispatcherMessage>): () => void
  /** Has the runtime's creates keep to them. */
  shared(runtime: Runtime): Runtime
  /** The provider has told another worker to stay away. */
  hold(held: Pick<HoldCreates, 'account' | 'forMs'>): void
}

/** For an answer; a sandbox waits for it. */
const ANSWER_MS = 1_000

/** Nothing is asked any more once `over` is aborted. */
export function makeWorkerAccounts(system: Pick<ActorSystem, 'ask'>, clock: Clock, over: AbortSignal): WorkerAccounts {
  const buckets = new Map<string, SharedBucket>()
  /** The first is asked; one that does not answer goes behind the others. */
  const dispatchers: Ref<DispatcherMessage>[] = []

  async function ask(question: TakeTokens) {
    const [dispatcher] = dispatchers
    if (dispatcher === undefined) throw limitKeptByNobody()
    try {
      return await system.ask(dispatcher, question, ANSWER_MS)
    } catch (error) {
      if (leave(dispatcher)) dispatchers.push(dispatcher)
      throw error
    }
  }

  function leave(dispatcher: Ref<DispatcherMessage>): boolean {
    const index = dispatchers.indexOf(dispatcher)
    if (index >= 0) dispatchers.splice(index, 1)
    return index >= 0
  }

  function make(account: string): SharedBucket {
    const known = buckets.get(account)
    if (known !== undefined) return known
    const made = makeSharedBucket({
      account,
      clock,
      ask: asked => ask({ type: 'take-tokens', ...asked }),
      giveBack: given => dispatchers[0]?.tell({ type: 'give-tokens-back', ...given }),
      tellHold: forMs => dispatchers[0]?.tell({ type: 'hold-creates', account, forMs }),
      over,
    })
    buckets.set(account, made)
    return made
  }

  return {
    join(dispatcher) {
      dispatchers.push(dispatcher)
      return () => void leave(dispatcher)
    },
    shared(runtime) {
      runtime.shareCreates?.(make)
      return runtime
    },
    hold: ({ account, forMs }) => buckets.get(account)?.hold(forMs),
  }
}
