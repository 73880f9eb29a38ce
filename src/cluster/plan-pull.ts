import type { JsMsg } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import type { Clock } from '../clock.ts'
import { makeFetcher } from './fetch.ts'
import { type JobLife, plansConsumer, STREAMS } from './names.ts'

export interface PullPorts extends JobLife {
  readonly connection: NatsConnection
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

export interface PlanPull {
  /** Asks for nothing more until there is room: resolves when nothing is on its way here. */
  idle(): Promise<void>
  close(): Promise<void>
}

/** Takes a job's plans, never more than there is room for, until it is closed. */
export function pullPlans(ports: PullPorts): PlanPull {
  const over = new AbortController()
  const onIdle: (() => void)[] = []
  let isIdle = false
  const fetcher = makeFetcher({
    ...ports,
    stream: STREAMS.plans,
    consumer: plansConsumer(ports),
    onMessage: ports.onPlan,
  })
  const pulling = pull().catch(ports.onError)

  async function pull(): Promise<void> {
    while (!over.signal.aborted) {
      const claimed = ports.claim()
      if (claimed > 0) {
        ports.giveBack(claimed - (await fetcher.fetch(claimed)))
        continue
      }
      isIdle = true
      for (const wake of onIdle.splice(0)) wake()
      await ports.room(over.signal)
      isIdle = false
    }
  }

  return {
    async idle() {
      if (isIdle) return
      const idle = new Promise<void>(resolve => onIdle.push(resolve))
      await fetcher.stop()
      await Promise.race([idle, pulling])
    },
    async close() {
      over.abort()
      await fetcher.stop()
      await pulling
    },
  }
}
