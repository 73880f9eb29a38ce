import type { JetStreamManager, JsMsg } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { type Clock, sleep } from '../clock.ts'
import { hasTag } from '../errors.ts'
import type { GroupId, RunId } from '../ids.ts'
import type { Journal } from '../journal/journal.ts'
import type { RunHeader } from '../rollout/run.ts'
import type { RunTrace } from '../telemetry/traces/run-trace.ts'
import { makeFetcher } from './fetch.ts'
import { allResultsOf, type JobLife, resultsConsumer, STREAMS } from './names.ts'
import type { Parcels } from './parcels.ts'
import { parseTrace } from './run-traces.ts'
import { RESULT_ACK_MS } from './streams.ts'
import { makeLook, makeTaken } from './taken.ts'
import { parseResults, type ResultMessage } from './wire.ts'

export interface ResultPorts extends JobLife {
  /** Absent: runs of groups that nobody waits for are not kept. */
  readonly journal: Journal | undefined
  readonly parcels: Parcels
  readonly clock: Clock
  /** Its group was handed out, and the run has not arrived yet. */
  readonly isWanted: (runId: RunId) => boolean
  /** A run of an open group, durable where there is a journal. The bytes are handed over. */
  readonly onRun: (header: RunHeader, trajectory: Uint8Array, trace: RunTrace | undefined) => void
  /** A run of a group that nobody waits for yet: an earlier life of the coordinator had handed it out. It is in the journal. */
  readonly onEarly: (header: RunHeader, trace: RunTrace | undefined) => void
  readonly onEnd: (end: Exclude<ResultMessage, { type: 'run' }>) => void
  /** The group's run is not there any more: whoever has the group is to go on with it. */
  readonly onGap: (groupId: GroupId) => void
  /** The run cannot be kept, and stays in the stream. */
  readonly onUnkept: (groupId: GroupId, error: unknown) => void
  readonly onError: (error: unknown) => void
}

export interface ResultFeed {
  /** Resolves when everything that is in the stream now has been taken, also where its acknowledgement was lost. What cannot be kept has been told, and is not waited for. */
  settled(): Promise<void>
  /** The same for what is there when it is asked, whatever comes meanwhile. */
  takenSoFar(): Promise<void>
  /** What is under way is ended first. */
  close(): Promise<void>
}

/**
 * Of one request. A server cuts off a client for which 64 MiB wait, and messages are of 768 KiB at most; what may wait for the journal is bounded by what is not
 * acknowledged.
 */
const MOST_AT_ONCE = 64
const LOOK_AGAIN_MS = 50
const TRY_AGAIN_MS = 1_000

/**
 * Takes a job's results from their stream: each run goes to the journal, and is told; a message is acknowledged when that is so of all that is in it. Of each group in the
 * order in which they were sent.
 */
export async function openResultFeed(
  connection: NatsConnection,
  manager: JetStreamManager,
  ports: ResultPorts,
): Promise<ResultFeed> {
  const { jobId, clock, onError } = ports
  let isClosed = false
  /** They stay in the stream for the next life of the job. */
  const unkept = new Set<number>()
  const taken = makeTaken(clock, RESULT_ACK_MS)
  /** The last of each group that is under way. */
  const chains = new Map<GroupId, Promise<unknown>>()
  /** Messages that are under way. */
  const taking = new Set<Promise<void>>()
  const fetcher = makeFetcher({
    connection,
    stream: STREAMS.results,
    consumer: resultsConsumer(ports),
    clock,
    onError,
    onMessage(message) {
      const under = take(message).finally(() => taking.delete(under))
      taking.add(under)
    },
  })
  const reading = read()

  async function read(): Promise<void> {
    while (!isClosed) await fetcher.fetch(MOST_AT_ONCE)
  }

  function acknowledge(message: JsMsg): void {
    taken.add(message)
    unkept.delete(message.seq)
    message.ack()
  }

  async function take(message: JsMsg): Promise<void> {
    // Its acknowledgement was lost.
    if (taken.isAgain(message)) return acknowledge(message)
    let results: readonly ResultMessage[]
    try {
      results = parseResults(message.subject, message.data)
    } catch (error) {
      ports.onError(error)
      if (!hasTag(error, 'bad-cluster-message')) return message.nak(TRY_AGAIN_MS)
      taken.add(message)
      return message.term('it is no result')
    }
    // Written to the journal together.
    const ends = await Promise.allSettled(
      results.map(result => inOrder(groupOf(result), () => takeResult(message.subject, result))),
    )
    const failed = ends.filter(end => end.status === 'rejected')
    for (const { reason } of failed) ports.onError(reason)
    if (failed.length > 0) message.nak(TRY_AGAIN_MS)
    else if (ends.some(end => end.status === 'fulfilled' && !end.value)) unkept.add(message.seq)
    else {
      acknowledge(message)
      const objects = results.flatMap(result => (result.type === 'run' ? (result.object ?? []) : []))
      await Promise.all(objects.map(object => ports.parcels.delete(object).catch(ports.onError)))
    }
  }

  function inOrder<Value>(groupId: GroupId, work: () => Promise<Value>): Promise<Value> {
    const done = (chains.get(groupId) ?? Promise.resolve()).then(work)
    const chain = done.catch(() => {
      // Told of with its message.
    })
    chains.set(groupId, chain)
    void chain.then(() => {
      if (chains.get(groupId) === chain) chains.delete(groupId)
    })
    return done
  }

  /** Whether that is over; what could not be kept is not. */
  async function takeResult(subject: string, result: ResultMessage): Promise<boolean> {
    if (result.type === 'run') return takeRun(result, traceOf(subject, result))
    ports.onEnd(result)
    return true
  }

  /** One that cannot be read is told of, and its run is taken without. */
  function traceOf(subject: string, { trace }: RunMessage): RunTrace | undefined {
    try {
      return trace === undefined ? undefined : parseTrace(subject, trace)
    } catch (error) {
      ports.onError(error)
      return undefined
    }
  }

  async function takeRun(
    { header, object, trajectory: inline }: RunMessage,
    trace: RunTrace | undefined,
  ): Promise<boolean> {
    const { groupId, runId } = header
    const isWanted = ports.isWanted(runId)
    if (!isWanted && !(await isNew(runId))) return true
    let trajectory: Uint8Array
    try {
      trajectory = object === undefined ? (inline ?? NOTHING) : await ports.parcels.take(object)
    } catch (error) {
      if (!hasTag(error, 'trajectory-missing')) throw error
      // It was older than the store keeps them: the group is gone on with.
      ports.onError(error)
      ports.onGap(groupId)
      return true
    }
    try {
      await ports.journal?.putRun(header, trajectory)
    } catch (error) {
      ports.onUnkept(groupId, error)
      return false
    }
    if (isWanted) ports.onRun(header, trajectory, trace)
    else ports.onEarly(header, trace)
    return true
  }

  async function isNew(runId: RunId): Promise<boolean> {
    return ports.journal !== undefined && (await ports.journal.run(runId)) === undefined
  }

  /** A server that does not answer is asked again. */
  async function until(isDone: () => Promise<boolean>): Promise<void> {
    const look = () =>
      isDone().catch(error => {
        ports.onError(error)
        return isClosed
      })
    while (!(await look())) await sleep(ports.clock, LOOK_AGAIN_MS)
  }

  const lookAt = (last?: number) =>
    makeLook(manager, STREAMS.results, allResultsOf(jobId), seq => taken.has(seq) || unkept.has(seq), last)

  return {
    settled() {
      const look = lookAt()
      return until(async () => {
        const { num_pending, num_ack_pending } = await manager.consumers.info(STREAMS.results, resultsConsumer(ports))
        return num_pending === 0 && (num_ack_pending === 0 || (await look()))
      })
    },
    async takenSoFar() {
      let look: (() => Promise<boolean>) | undefined
      await until(async () => {
        look ??= lookAt((await manager.streams.info(STREAMS.results)).state.last_seq)
        return look()
      })
    },
    async close() {
      isClosed = true
      await fetcher.stop()
      await reading
      await Promise.all(taking)
    },
  }
}

type RunMessage = Extract<ResultMessage, { type: 'run' }>

function groupOf(result: ResultMessage): GroupId {
  return result.type === 'run' ? result.header.groupId : result.groupId
}

const NOTHING = new Uint8Array(0)
