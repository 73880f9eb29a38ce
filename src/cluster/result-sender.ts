import { makeGate } from '../rollout/gate.ts'
import { joinParts, type Part, sizeOf } from './codec.ts'
import { type Publisher, publishSurely } from './publish.ts'
import { type ResultMessage, toPart } from './wire.ts'

/** Puts what has ended into the stream of results. */
export interface ResultSender {
  /** `id` is the result's own, the same for each repetition. Resolves when the stream has it; rejects as `publishSurely` does. */
  put(message: ResultMessage, id: string): Promise<void>
}

/** Messages of one worker on their way at once: what ends while so many are goes with the next. */
export const MOST_UNDER_WAY = 16
/** Results of one message: what the coordinator has to do before it acknowledges one. */
export const MOST_TOGETHER = 64
/** Bytes of one: what is larger costs more to wait for than a message costs. */
export const MOST_BYTES_TOGETHER = 256 * 1024

interface Waiting {
  readonly message: ResultMessage
  readonly id: string
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
  part?: Part
}

/**
 * A result goes at once while few are on their way, and else in one message with those that wait, in the order in which they came. None waits for others to end. `mostBytes`
 * bounds a message of several; one alone may be longer. `life` is no other sender's: a message of several must never be taken for one that begins with the same run.
 */
export function makeResultSender(publisher: Publisher, subject: string, mostBytes: number, life: string): ResultSender {
  const gate = makeGate(MOST_UNDER_WAY)
  const waiting: Waiting[] = []
  let sent = 0

  /** The first that wait, as many as go together. */
  function take(): Waiting[] {
    const together: Waiting[] = []
    let bytes = 0
    while (together.length < MOST_TOGETHER) {
      const [next] = waiting
      if (next === undefined) break
      try {
        next.part ??= toPart(next.message)
      } catch (error) {
        waiting.shift()
        next.reject(error)
        continue
      }
      bytes += sizeOf(next.part)
      if (together.length > 0 && bytes > mostBytes) break
      waiting.shift()
      together.push(next)
    }
    return together
  }

  async function send(): Promise<void> {
    const together = take()
    const [first] = together
    // It went with one before it.
    if (first === undefined) return
    try {
      sent += 1
      const id = together.length === 1 ? first.id : `${first.id}+${life}.${sent}`
      const payload = joinParts(together.flatMap(({ part }) => part ?? []))
      await publishSurely(publisher, subject, () => payload, id)
      for (const { resolve } of together) resolve()
    } catch (error) {
      for (const { reject } of together) reject(error)
    }
  }

  return {
    put: (message, id) =>
      new Promise((resolve, reject) => {
        waiting.push({ message, id, resolve, reject })
        void gate.run(send)
      }),
  }
}
