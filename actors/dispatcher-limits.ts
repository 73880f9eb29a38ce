/** What the dispatcher does about the limits of accounts that all workers draw on. */
import type { Context } from '../src/kernel/actor.ts'
import type { DispatcherMessage, LimitNote } from './cluster-messages.ts'
import type { DispatcherState } from './dispatcher-state.ts'

export function keepLimit(
  { limits, workers }: DispatcherState,
  message: LimitNote,
  { clock, replyTo }: Pick<Context<DispatcherMessage>, 'clock' | 'replyTo'>,
): void {
  const desks = workers.desks()
  switch (message.type) {
    case 'take-tokens':
      replyTo?.tell(limits.take(message, Math.max(1, desks.length), clock.now()))
      return
    case 'give-tokens-back':
      limits.giveBack(message)
      return
    case 'hold-creates':
      limits.hold(message.account, clock.now() + message.forMs)
      // Those that have tokens must not use them.
      for (const desk of desks) desk.tell(message)
      return
  }
}
