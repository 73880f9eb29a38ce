import type { Actor, Context } from '../src/kernel/actor.ts'
import type { Drained } from '../src/pool/pool.ts'
import type { PoolStats } from '../src/pool/stats.ts'
import type { LiveList } from '../src/rollout/live.ts'
import type { DeskMessage, HoldCreates } from './cluster-messages.ts'

/** What a worker does when the coordinator of a job asks. */
export interface DeskPorts {
  readonly cancel: (generation: number) => Promise<void>
  readonly end: () => Promise<Drained>
  readonly live: (most: number) => Promise<LiveList>
  readonly poolStats: () => Promise<PoolStats>
  readonly reap: (owners: readonly string[]) => Promise<number>
  readonly expect: (rollouts: number) => void
  readonly hold: (held: HoldCreates) => void
  /** What was asked could not be done: nobody is answered, and the asker has a deadline. */
  readonly onFailed: (error: unknown) => void
}

/** A worker's end of one job: where its coordinator reaches it. What fails is told here and not answered: the question runs out of time. */
export function desk(ports: DeskPorts): Actor<undefined, DeskMessage> {
  return {
    name: 'desk',
    initial: () => undefined,
    receive(state, message, context) {
      switch (message.type) {
        case 'cancel-job':
          answer(
            context,
            ports.cancel(message.generation).then(() => true),
          )
          return state
        case 'end-job':
          answer(context, ports.end())
          return state
        case 'ask-live':
          answer(context, ports.live(message.most))
          return state
        case 'pool-stats':
          answer(context, ports.poolStats())
          return state
        case 'reap-owners':
          answer(context, ports.reap(message.owners))
          return state
        case 'hold-creates':
          ports.hold(message)
          return state
        case 'close-desk':
          context.stop()
          return state
        case 'expect':
          ports.expect(message.rollouts)
          return state
      }
    },
  }

  function answer<Value>({ replyTo }: Context<DeskMessage>, value: Promise<Value>): void {
    value.then(found => replyTo?.tell(found), ports.onFailed)
  }
}
