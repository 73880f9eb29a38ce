import type { SystemOptions } from '../kernel/system.ts'
import { publish } from './channels.ts'

/** The part of an actor system's options that makes its failures and dead letters heard. */
export const observed: Pick<SystemOptions, 'onFailure' | 'onDeadLetter'> = {
  onFailure: ({ address, error, directive }) =>
    publish('actor', {
      tag: 'actor-failed',
      message: `the actor ${address} failed (${directive}): ${error.message}`,
      address,
      cause: error,
    }),
  onDeadLetter: ({ address, reason }) =>
    publish('deadLetter', {
      tag: 'dead-letter',
      message: `a message to ${address} was not delivered: ${reason}`,
      address,
    }),
}
