import type { JsMsg } from '@nats-io/jetstream'
import type { WorkerLoad } from '../../actors/cluster-messages.ts'
import type { Credits } from '../cluster/credits.ts'
import type { Parcels } from '../cluster/parcels.ts'
import { type Publisher, surely } from '../cluster/publish.ts'
import { MOST_BYTES_TOGETHER, makeResultSender } from '../cluster/result-sender.ts'
import type { TracePacker } from '../cluster/run-traces.ts'
import type { PlanMessage, ResultMessage } from '../cluster/wire.ts'
import type { ErrorData } from '../errors.ts'
import { type GroupId, type RunId, randomIds } from '../ids.ts'
import type { RunHeader } from '../rollout/run.ts'
import type { WaitingBytes } from '../stream/credits.ts'
import type { RunTrace } from '../telemetry/traces/run-trace.ts'

interface Delivery {
  message: JsMsg
  readonly losses: number
}

/** A group that this worker has. */
interface HeldGroup {
  readonly plan: PlanMessage
  /** The newest delivery of its plan, and the workers that were lost under it before the first to this one. */
  readonly delivery: Delivery
  /** Members that had their run before. */
  readonly durable: ReadonlySet<RunId>
  /** Members without a run: each holds a credit. */
  readonly open: Set<RunId>
  /** Runs on their way into the stream. */
  readonly puts: Promise<void>[]
}

export interface WorkerGroupsPorts {
  readonly publisher: Publisher
  /** Of this worker's results. */
  readonly subject: string
  readonly parcels: Parcels
  readonly credits: Credits
  readonly packTrace: TracePacker
  /** Packed bytes that are on their way into the stream. */
  readonly waiting: WaitingBytes
  readonly onError: (error: unknown) => void
}

/** The groups that a worker has of one job, from their delivery until the stream has all that came of them. */
export interface WorkerGroups {
  readonly size: number
  /** Members without a run. */
  readonly rollouts: number
  /** For people to look at. */
  readonly load: Omit<WorkerLoad, 'isDraining'>
  /** A delivery, from now on kept from going to others. Undefined where the worker has the group already: it is a repetition. Else how many workers were lost under it. */
  receive(plan: PlanMessage, message: JsMsg): number | undefined
  /** What was received is for nobody. */
  refuse(groupId: GroupId): void
  /** What was received is here now. */
  add(plan: PlanMessage, durable: readonly RunHeader[]): void
  /** The share of its runs that the coordinator draws. */
  traced(groupId: GroupId): number | undefined
  /** Puts it into the stream, unless it was known before. */
  runEnded(header: RunHeader, trajectory: Uint8Array, trace: RunTrace | undefined): void
  /** Acknowledges the plan once all of its runs are in the stream. */
  groupEnded(groupId: GroupId): void
  /** Tells the server that all of them are still worked on. */
  stillWorking(): void
  /** Resolves when what has ended is in the stream, or cannot be put there any more. */
  flushed(): Promise<void>
  /** Forgets what is left, or one of it, and says so to the coordinator: `undefined` that others are to go on, else why it broke. */
  handBack(why: ErrorData | undefined, only?: GroupId): Promise<void>
  /** Resolves when that is the only one here, or is here no more. */
  alone(groupId: GroupId): Promise<void>
  /** Resolves when it is here no more. */
  gone(groupId: GroupId): Promise<void>
  has(groupId: GroupId): boolean
  /** Of what was received: says that as many workers were lost under it as may be. */
  exhausted(plan: PlanMessage): Promise<void>
  /** Forgets what is left: the coordinator knows. */
  drop(): void
  /** Resolves when there is none. */
  empty(): Promise<void>
}

export function makeWorkerGroups(ports: WorkerGroupsPorts): WorkerGroups {
  const { publisher, parcels, credits, waiting } = ports
  const received = new Map<GroupId, Delivery>()
  const groups = new Map<GroupId, HeldGroup>()
  const ending = new Set<Promise<void>>()
  const onFewer = new Set<() => void>()
  const mostTogether = Math.min(parcels.mostInline, MOST_BYTES_TOGETHER)
  const sender = makeResultSender(publisher, ports.subject, mostTogether, randomIds.hex(8))
  let runs = 0

  function countOpen(): number {
    let sum = 0
    for (const { open } of groups.values()) sum += open.size
    return sum
  }

  function remove(groupId: GroupId): void {
    const held = groups.get(groupId)
    if (held === undefined) return
    groups.delete(groupId)
    credits.giveBack(held.open.size)
    for (const look of [...onFewer]) look()
  }

  function until(isSo: () => boolean): Promise<void> {
    return new Promise(resolve => {
      const look = () => {
        if (!isSo()) return
        onFewer.delete(look)
        resolve()
      }
      onFewer.add(look)
      look()
    })
  }

  async function put(
    header: RunHeader,
    trajectory: Uint8Array,
    trace: RunTrace | undefined,
    epoch: string,
  ): Promise<void> {
    // What another life of the job has taken may be missing in this one's journal, if that is a copy.
    const id = `${header.runId}.${header.attempt}.${epoch}`
    const packed = trace === undefined ? undefined : ports.packTrace(trace, header)
    const isInline = trajectory.byteLength + (packed?.byteLength ?? 0) <= parcels.mostInline
    const message: ResultMessage = {
      type: 'run',
      header,
      trajectory: isInline ? trajectory : undefined,
      object: isInline ? undefined : id,
      ...(packed === undefined ? {} : { trace: packed }),
    }
    waiting.add(trajectory.byteLength)
    try {
      if (!isInline) await surely(publisher, () => parcels.put(id, trajectory))
      await sender.put(message, id)
    } finally {
      waiting.take(trajectory.byteLength)
    }
  }

  async function end(held: HeldGroup): Promise<void> {
    try {
      await Promise.all(held.puts)
      held.delivery.message.ack()
    } catch (error) {
      // The job is given up here: the plan goes to somebody else.
      if (!publisher.signal.aborted) ports.onError(error)
    }
    remove(held.plan.plan.groupId)
  }

  function track(work: Promise<void>): void {
    ending.add(work)
    void work.finally(() => ending.delete(work))
  }

  return {
    get size() {
      return groups.size
    },
    get rollouts() {
      return countOpen()
    },
    get load() {
      return { rollouts: countOpen(), groups: groups.size, runs }
    },
    receive({ plan, losses }, message) {
      const { groupId } = plan
      const known = groups.get(groupId)?.delivery ?? received.get(groupId)
      if (known === undefined) {
        const delivery = { message, losses: losses + message.info.deliveryCount - 1 }
        received.set(groupId, delivery)
        return delivery.losses
      }
      known.message = message
      return undefined
    },
    refuse(groupId) {
      received.get(groupId)?.message.ack()
      received.delete(groupId)
    },
    add(plan, headers) {
      const { groupId, members } = plan.plan
      const delivery = received.get(groupId)
      if (delivery === undefined) return
      received.delete(groupId)
      const durable = new Set(headers.map(({ runId }) => runId))
      const open = new Set(members.flatMap(({ runId }) => (durable.has(runId) ? [] : [runId])))
      credits.take(open.size)
      groups.set(groupId, { plan, delivery, durable, open, puts: [] })
    },
    traced: groupId => groups.get(groupId)?.plan.traced,
    runEnded(header, trajectory, trace) {
      const held = groups.get(header.groupId)
      if (held === undefined || !held.open.delete(header.runId)) return
      credits.giveBack(1)
      runs += 1
      const work = put(header, trajectory, trace, held.plan.epoch)
      held.puts.push(work)
      // Its group's end looks at how it went.
      track(work.catch(() => {}))
    },
    groupEnded(groupId) {
      const held = groups.get(groupId)
      if (held !== undefined) track(end(held))
    },
    stillWorking() {
      for (const { message } of received.values()) message.working()
      for (const { delivery } of groups.values()) delivery.message.working()
    },
    async flushed() {
      while (ending.size > 0) await Promise.all(ending)
    },
    async handBack(why, only) {
      const left = [...groups.values()].filter(({ plan }) => only === undefined || plan.plan.groupId === only)
      const tell = async ({ plan, delivery, puts }: HeldGroup) => {
        const { epoch, start } = plan
        const { groupId } = plan.plan
        const result: ResultMessage =
          why === undefined
            ? { type: 'handed-back', groupId, epoch, start, losses: delivery.losses }
            : { type: 'crashed', groupId, epoch, start, error: why }
        // Behind its runs, so that whoever goes on with it knows of them.
        await Promise.all(puts)
        await sender.put(result, `${groupId}.${epoch}.${start}.back`)
        delivery.message.ack()
      }
      await Promise.all(left.map(held => tell(held).catch(ports.onError)))
      for (const { plan } of left) remove(plan.plan.groupId)
    },
    drop() {
      for (const groupId of [...groups.keys()]) remove(groupId)
    },
    alone: groupId => until(() => groups.size === 1 || !groups.has(groupId)),
    gone: groupId => until(() => !groups.has(groupId)),
    has: groupId => groups.has(groupId),
    async exhausted({ plan, epoch, start }) {
      const { groupId } = plan
      const result: ResultMessage = { type: 'exhausted', groupId, epoch, start }
      await sender.put(result, `${groupId}.${epoch}.${start}.end`)
      received.get(groupId)?.message.ack()
      received.delete(groupId)
    },
    empty: () => until(() => groups.size === 0),
  }
}
