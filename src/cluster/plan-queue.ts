import type { JetStreamManager } from '@nats-io/jetstream'
import { headers, type NatsConnection, type Subscription } from '@nats-io/transport-node'
import type { GroupId } from '../ids.ts'
import { planExhausted } from './errors.ts'
import { deadOf, exhaustedOf, type JobLife, plansOf, STREAMS } from './names.ts'
import { type Publisher, publishSurely, surely } from './publish.ts'
import { MOST_DELIVERIES } from './streams.ts'
import { type PlanMessage, packPlan, parsePlan } from './wire.ts'

/** The coordinator's side of a job's plans. */
export interface PlanQueue {
  /** Resolves when the stream has it. */
  put(message: PlanMessage): Promise<void>
  /** Takes away what is there, also what workers have. */
  purge(): Promise<void>
  /** Keeps it among the dead letters. */
  bury(message: PlanMessage): Promise<void>
  close(): void
}

/** Header of a dead letter: why it is one. */
const REASON = 'Troupe-Reason'

export interface PlanQueuePorts extends JobLife {
  readonly connection: NatsConnection
  readonly manager: JetStreamManager
  readonly publisher: Publisher
  readonly epoch: string
  /** Given out as often as may be, and nobody ended it. It is in the stream no more. */
  readonly onExhausted: (groupId: GroupId, start: number) => void
  readonly onError: (error: unknown) => void
}

export function openPlanQueue(ports: PlanQueuePorts): PlanQueue {
  const { connection, manager, publisher, jobId, epoch } = ports
  const advisories: Subscription = connection.subscribe(exhaustedOf(ports), {
    callback(error, message) {
      if (error !== null) ports.onError(error)
      else void remove(message.json()).catch(ports.onError)
    },
  })

  async function remove(advisory: unknown): Promise<void> {
    const seq =
      typeof advisory === 'object' && advisory !== null && 'stream_seq' in advisory ? Number(advisory.stream_seq) : 0
    const stored = await manager.streams.getMessage(STREAMS.plans, { seq })
    if (stored === null) return
    const message = parsePlan(stored.subject, stored.data)
    await manager.streams.deleteMessage(STREAMS.plans, seq)
    if (message.epoch === epoch) ports.onExhausted(message.plan.groupId, message.start)
  }

  return {
    put: message => publishSurely(publisher, plansOf(jobId), () => packPlan(message), idOf(message)),
    async purge() {
      await surely(publisher, () => manager.streams.purge(STREAMS.plans, { filter: plansOf(jobId) }))
    },
    async bury(message) {
      const why = headers()
      why.set(REASON, planExhausted(message.plan.groupId, MOST_DELIVERIES).message)
      const options = { headers: why, msgID: idOf(message) }
      await surely(publisher, () => publisher.client.publish(deadOf(jobId), packPlan(message), options))
    },
    close: () => advisories.unsubscribe(),
  }
}

/** The same for each repetition of one handing out, and for nothing else. */
function idOf({ epoch, plan, start }: PlanMessage): string {
  return `${plan.groupId}.${epoch}.${start}`
}
