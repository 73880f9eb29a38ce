import type { JetStreamManager, JsMsg } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { type Clock, sleep } from '../clock.ts'
import { hasTag } from '../errors.ts'
import type { GroupId, RunId } from '../ids.ts'
import type { Journal } from '../journal/journal.ts'
import type { RunHeader } from '../rollout/run.ts'
import type { RunTrace } from '../telemetry/traces/run-trace.ts'
import { makeFetcher } from './fetch.ts'
import { allResultsOf, type JobLife, resultsConsumer, resultsOf, STREAMS } from './names.ts'
import type { Parcels } from './parcels.ts'
import { parseTrace } from './run-traces.ts'
import { RESULT_ACK_MS } from './streams.ts'
import { makeLook, makeTaken } from './taken.ts'
import { parseResult, type ResultMessage } from './wire.ts'

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
  /** The same for what concerns one group. */
  groupSettled(groupId: GroupId): Promise<void>
  /** What is under way is ended first. */
  close(): Promise<void>
}

/** Of one request: what may wait for the journal is bounded by what is not acknowledged. */
const MOST_AT_ONCE = 256
const LOOK_AGAIN_MS = 50
const TRY_AGAIN_MS = 1_000

/** Takes a job's results from their stream: each run goes to the journal, is told, and is acknowledged only then. Of each group in the order of its messages. */
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
  const chains = new Map<string, Promise<void>>()
  const fetcher = makeFetcher({
    connection,
    stream: STREAMS.results,
    consumer: resultsConsumer(ports),
    clock,
    onError,
    onMessage(message) {
      const { subject } = message
      const chain = (chains.get(subject) ?? Promise.resolve()).then(() => take(message))
      chains.set(subject, chain)
      void chain.then(() => {
        if (chains.get(subject) === chain) chains.delete(subject)
      })
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
    try {
      // Its acknowledgement was lost.
      if (taken.isAgain(message)) return acknowledge(message)
      const result = parseResult(message.subject, message.data)
      if (result.type === 'run') await takeRun(message, result)
      else {
        ports.onEnd(result)
        acknowledge(message)
      }
    } catch (error) {
      ports.onError(error)
      if (hasTag(error, 'bad-cluster-message')) {
        taken.add(message)
        message.term('it is no result')
      } else message.nak(TRY_AGAIN_MS)
    }
  }

  async function takeRun(message: JsMsg, result: Extract<ResultMessage, { type: 'run' }>): Promise<void> {
    const { header, object } = result
    const { groupId, runId } = header
    const trace = result.trace === undefined ? undefined : parseTrace(message.subject, result.trace)
    const isWanted = ports.isWanted(runId)
    if (isWanted || (await isNew(runId))) {
      let trajectory: Uint8Array
      try {
        trajectory = object === undefined ? (result.trajectory ?? NOTHING) : await ports.parcels.take(object)
      } catch (error) {
        if (!hasTag(error, 'trajectory-missing')) throw error
        // It was older than the store keeps them: the group is gone on with.
        ports.onError(error)
        ports.onGap(groupId)
        acknowledge(message)
        return
      }
      try {
        await ports.journal?.putRun(header, trajectory)
      } catch (error) {
        unkept.add(message.seq)
        ports.onUnkept(groupId, error)
        return
      }
      if (isWanted) ports.onRun(header, trajectory, trace)
      else ports.onEarly(header, trace)
    }
    acknowledge(message)
    if (object !== undefined) await ports.parcels.delete(object)
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

  const lookAt = (subjects: string) =>
    makeLook(manager, STREAMS.results, subjects, seq => taken.has(seq) || unkept.has(seq))

  return {
    settled() {
      const look = lookAt(allResultsOf(jobId))
      return until(async () => {
        const { num_pending, num_ack_pending } = await manager.consumers.info(STREAMS.results, resultsConsumer(ports))
        return num_pending === 0 && (num_ack_pending === 0 || (await look()))
      })
    },
    groupSettled: groupId => until(lookAt(resultsOf(jobId, groupId))),
    async close() {
      isClosed = true
      await fetcher.stop()
      await reading
      await Promise.all(chains.values())
    },
  }
}

const NOTHING = new Uint8Array(0)
