import type { JetStreamManager, JsMsg, NextMsgRequest, SeqMsgRequest } from '@nats-io/jetstream'
import type { Clock } from '../clock.ts'

/** Messages of a stream that need not be waited for, although they may still be there. */
export interface Taken {
  /** It has been taken, and acknowledged without an answer. */
  add(message: JsMsg): void
  /** It is one of them, given out once more. */
  isAgain(message: JsMsg): boolean
  has(seq: number): boolean
}

/**
 * Remembers each for `forMs` at least, and for twice that at most. An acknowledgement that was lost is none to the server, which gives the message out again after its
 * `ack_wait`: with that for `forMs`, whatever is forgotten has come again, or is gone.
 */
export function makeTaken(clock: Clock, forMs: number): Taken {
  let since = clock.now()
  /** When the stream got it, by its number: a stream that has lost its end gives its numbers anew. */
  let times = new Map<number, number>()
  let timesBefore = times
  return {
    add({ seq, info }) {
      if (clock.now() - since > forMs) {
        timesBefore = times
        times = new Map()
        since = clock.now()
      }
      times.set(seq, info.timestampNanos)
    },
    isAgain: ({ seq, info }) => (times.get(seq) ?? timesBefore.get(seq)) === info.timestampNanos,
    has: seq => times.has(seq) || timesBefore.has(seq),
  }
}

/**
 * Each call tells whether the stream has no messages of these subjects, up to that one, but those for which `isOver` holds. They are looked at in their order, and none of
 * those again.
 */
export function makeLook(
  { streams }: JetStreamManager,
  stream: string,
  subjects: string,
  isOver: (seq: number) => boolean,
  last = Number.POSITIVE_INFINITY,
): () => Promise<boolean> {
  let seq = 1
  return async () => {
    for (;;) {
      const query: SeqMsgRequest & NextMsgRequest = { seq, next_by_subj: subjects }
      const next = await streams.getMessage(stream, query)
      if (next === null || next.seq > last) return true
      if (!isOver(next.seq)) return false
      seq = next.seq + 1
    }
  }
}
