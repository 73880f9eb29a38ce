import type { NatsConnection } from '@nats-io/transport-node'
import { pack, unpackFields } from './codec.ts'
import { badClusterMessage } from './errors.ts'
import type { AccountLeft } from './limit-book.ts'
import { LIMITS_SUBJECT } from './names.ts'

/** What coordinators tell each other, each once a second: that they are there, and what the one that keeps the buckets has in its book. */
export interface LimitSign {
  readonly protocol: number
  readonly node: string
  /** The address of its dispatcher. */
  readonly dispatcher: string
  /** The least one keeps the buckets. 0: it has none yet, and asks who is there. */
  readonly rank: number
  /** Its job is over. */
  readonly isOver: boolean
  /** Workers of its job: those of several jobs count once. */
  readonly workers: readonly string[]
  /** All of the keeper's book; empty from others. */
  readonly accounts: readonly AccountLeft[]
}

export interface LimitSigns {
  tell(sign: LimitSign): void
  close(): void
}

/**
 * Signs of this job and of all others, until they are closed. They go by messages which nobody keeps, as those of the jobs do: who keeps the buckets must be known also
 * while a stream's servers choose a leader.
 */
export function openLimitSigns(
  connection: NatsConnection,
  onSign: (sign: LimitSign) => void,
  onError: (error: unknown) => void,
): LimitSigns {
  const subscription = connection.subscribe(LIMITS_SUBJECT, {
    callback(error, message) {
      try {
        if (error !== null) throw error
        onSign(parseSign(message.data))
      } catch (thrown) {
        onError(thrown)
      }
    },
  })
  return {
    tell(sign) {
      // Nobody is told by a connection that is closed; they hear no more of it, which says the same.
      if (!connection.isClosed()) connection.publish(LIMITS_SUBJECT, pack(sign))
    },
    close: () => subscription.unsubscribe(),
  }
}

/** What every version has, so that versions can be compared; the rest is looked at by those of the same one. Throws `bad-cluster-message`. */
function parseSign(bytes: Uint8Array): LimitSign {
  const fields = unpackFields(LIMITS_SUBJECT, bytes)
  const isSign =
    typeof fields.protocol === 'number' &&
    typeof fields.node === 'string' &&
    typeof fields.dispatcher === 'string' &&
    typeof fields.rank === 'number' &&
    typeof fields.isOver === 'boolean' &&
    Array.isArray(fields.workers) &&
    Array.isArray(fields.accounts)
  if (!isSign) throw badClusterMessage(LIMITS_SUBJECT, 'it is no sign of a coordinator')
  return fields as unknown as LimitSign
}
