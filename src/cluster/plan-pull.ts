import { type Consumer, type ConsumerMessages, type JsMsg, jetstream } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { type Clock, sleep } from '../clock.ts'
import { plansConsumer, STREAMS } from './names.ts'

export interface PullPorts {
  readonly connection: NatsConnection
  readonly jobId: string
  readonly clock: Clock
  /** How many groups may be taken now. Counts as taken until `gaveBack`. */
  readonly claim: () => number
  /** Of those that were claimed, so many were not needed. */
  readonly giveBack: (groups: number) => void
  /** Resolves when a claim may give more than it did. */
  readonly room: (signal: AbortSignal) => Promise<void>
  readonly onPlan: (message: JsMsg) => void
  readonly onError: (error: unknown) => void
}

/** What the server waits with a request for plans before it is made again. */
const EXPIRES_MS = 5_000
const TRY_AGAIN_MS = 500

export interface PlanPull {
  /** Asks for nothing more until there is room: resolves when nothing is on its way here. */
  idle(): Promise<void>
  close(): Promise<void>
}

/** Takes a job's plans, never more than there is room for, until it is closed. */
export function pullPlans(ports: PullPorts): PlanPull {
  const over = new AbortController()
  let fetching: ConsumerMessages | undefined
  const onIdle: (() => void)[] = []
  let isIdle = false
  const pulling = pull().catch(ports.onError)

  async function pull(): Promise<void> {
    let consumer: Consumer | undefined
    while (!over.signal.aborted) {
      const claimed = ports.claim()
      if (claimed === 0) {
        isIdle = true
        for (const wake of onIdle.splice(0)) wake()
        await ports.room(over.signal)
        isIdle = false
        continue
      }
      let taken = 0
      try {
        consumer ??= await jetstream(ports.connection).consumers.get(STREAMS.plans, plansConsumer(ports.jobId))
        fetching = await consumer.fetch({ max_messages: claimed, expires: EXPIRES_MS })
        if (over.signal.aborted) await fetching.close()
        for await (const message of fetching) {
          taken += 1
          ports.onPlan(message)
        }
      } catch (error) {
        consumer = undefined
        ports.onError(error)
        await sleep(ports.clock, TRY_AGAIN_MS, over.signal).catch(() => {
          // Only the signal ends the sleep.
        })
      } finally {
        ports.giveBack(claimed - taken)
      }
    }
  }

  return {
    async idle() {
      if (isIdle) return
      const idle = new Promise<void>(resolve => onIdle.push(resolve))
      await fetching?.close()
      await Promise.race([idle, pulling])
    },
    async close() {
      over.abort()
      await fetching?.close()
      await pulling
    },
  }
}
