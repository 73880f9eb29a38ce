import { jetstream } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import type { DispatcherMessage, WorkerNote } from '../../actors/cluster-messages.ts'
import { desk } from '../../actors/desk.ts'
import type { Clock } from '../clock.ts'
import type { Credits } from '../cluster/credits.ts'
import { coordinatorLost, coordinatorReplaced, workerRefused } from '../cluster/errors.ts'
import type { JobEntry, RuntimeRequest } from '../cluster/job-board.ts'
import type { Leases } from '../cluster/leases.ts'
import { resultsOf } from '../cluster/names.ts'
import type { NodeLinks } from '../cluster/node-links.ts'
import { openParcels } from '../cluster/parcels.ts'
import { makePublisher, surely } from '../cluster/publish.ts'
import { makeTracePacker } from '../cluster/run-traces.ts'
import { type ErrorData, TroupeError, toErrorData } from '../errors.ts'
import type { Ref } from '../kernel/ref.ts'
import type { ActorSystem } from '../kernel/system.ts'
import type { Drained } from '../pool/pool.ts'
import type { PoolStats } from '../pool/stats.ts'
import type { Runtime } from '../runtimes/runtime.ts'
import { makeWaitingBytes } from '../stream/credits.ts'
import { within } from '../threads/worker-pool.ts'
import { startLeasedEngine } from './leased-engine.ts'
import { startBeat } from './worker-beat.ts'
import { WAITING_BYTES, type WorkerLimits } from './worker-engine.ts'
import { makeWorkerGroups } from './worker-groups.ts'
import type { WorkerAccounts } from './worker-limits.ts'
import { takePlans } from './worker-plans.ts'

export interface WorkerJobPorts {
  readonly connection: NatsConnection
  /** The worker's, and its links. */
  readonly system: ActorSystem
  readonly links: NodeLinks
  readonly note: Omit<WorkerNote, 'credits'>
  readonly limits: WorkerLimits
  /** Limits on creates that it shares with others. */
  readonly accounts: WorkerAccounts
  readonly credits: Credits
  readonly leases: Leases
  /** The worker ends. */
  readonly stopping: AbortSignal
  /** That the worker works for now: they share what is free. */
  readonly jobs: () => number
  readonly clock: Clock
  /** A runtime of this worker's own. Throws where this machine cannot have it. */
  readonly makeRuntime: (request: RuntimeRequest) => Promise<Runtime>
  /** Its work for the job is over, in which so many rollouts ended; `why` where that was not wanted. Unless for good, it begins anew when the coordinator is heard of again. */
  readonly onOver: (why: ErrorData | undefined, isForGood: boolean, rollouts: number) => void
  readonly onTrouble: (error: unknown) => void
}

/** A worker's part in one life of a job. */
export interface WorkerJob {
  readonly entry: JobEntry
  /** Its coordinator is alive. */
  sign(): void
  /** A later life of the job has begun: this one's groups are its own to give out. */
  replaced(): void
  /** Takes nothing new; groups that are under way have so long, and then others go on with them. Resolves when everything is given back. */
  drain(graceMs: number): Promise<void>
}

const DURABLE_MS = 10_000

/** Makes an engine for the job, and runs the groups that the job's stream gives it. Rejects with `worker-refused` where this machine cannot. */
export async function startWorkerJob(entry: JobEntry, ports: WorkerJobPorts): Promise<WorkerJob> {
  const { connection, system, links, clock, credits, onTrouble } = ports
  const { jobId } = entry
  const { node } = ports.note
  const over = new AbortController()
  const waiting = makeWaitingBytes(WAITING_BYTES)
  const publisher = makePublisher({ client: jetstream(connection), clock, signal: over.signal, onTrouble })
  const groups = makeWorkerGroups({
    publisher,
    subject: resultsOf(jobId, node),
    parcels: openParcels(connection),
    credits,
    packTrace: makeTracePacker(node, clock),
    waiting,
    onError: onTrouble,
  })
  links.connect(entry.node)
  const dispatcher: Ref<DispatcherMessage> = system.ref(entry.dispatcher)
  const { accounts } = ports
  const leaveAccounts = accounts.join(dispatcher)
  const leased = await startLeasedEngine(entry, {
    ...ports,
    waiting,
    makeRuntime: async request => accounts.shared(await ports.makeRuntime(request)),
    traced: groups.traced,
    onRun: groups.runEnded,
    onGroup: groups.groupEnded,
    onFailed: error => void leave('broken', error),
  }).catch(refuse)
  const { runtime, engine } = leased
  /** Cancels of the coordinator so far: what was handed out before them is given up. */
  let cancelled = -1
  let leaving: Promise<Drained> | undefined
  /** Of its pool before that ended: whoever asks then is told these. */
  let lastStats: Promise<PoolStats> | undefined

  /** The coordinator is told why, so that somebody who looks there need not look here. */
  function refuse(thrown: unknown): never {
    const error = workerRefused(node, toErrorData(thrown))
    dispatcher.tell({ type: 'worker-refused', node, error })
    leaveAccounts()
    throw new TroupeError(error)
  }

  const deskRef = system.spawn(
    desk({
      cancel,
      end: () => leave('ended'),
      live: async most => (lastStats === undefined ? await engine.live(most) : { rollouts: [], phases: {} }),
      poolStats: () => lastStats ?? engine.poolStats(),
      reap: async owners => (await runtime.reap?.(owners, jobId)) ?? 0,
      expect: rollouts => engine.expect(rollouts),
      hold: accounts.hold,
      onFailed: error => onTrouble(toErrorData(error)),
    }),
  )
  const plans = takePlans({
    connection,
    entry,
    clock,
    credits,
    groups,
    jobs: ports.jobs,
    size: ports.limits.maxConcurrent,
    over: over.signal,
    askDurable: question => surely(publisher, () => system.ask(dispatcher, question, DURABLE_MS)),
    isCancelled: generation => generation <= cancelled,
    isLeaving: () => leaving !== undefined,
    run: engine.run,
    onBroken: error => void leave('broken', toErrorData(error)),
    onTrouble,
  })
  const beat = startBeat({
    entry,
    note: ports.note,
    system,
    links,
    dispatcher,
    desk: deskRef,
    clock,
    over: over.signal,
    credits: creditsNow,
    load: () => ({ ...groups.load, isDraining: leaving !== undefined }),
    stillWorking: groups.stillWorking,
    onSilent: silentMs => void leave('lost', coordinatorLost(jobId, silentMs)),
  })
  const beating = beat.ended.catch(onTrouble)

  async function cancel(generation: number): Promise<void> {
    cancelled = Math.max(cancelled, generation)
    await engine.cancel()
    await groups.flushed()
    groups.drop()
  }

  /** What it has, and what it could take beside that. */
  function creditsNow(): number {
    return groups.rollouts + (leaving === undefined ? plans.claimed + credits.free : 0)
  }

  function leave(how: 'ended' | 'lost' | 'broken' | 'drained', why?: ErrorData, graceMs = 0): Promise<Drained> {
    leaving ??= end(how, why, graceMs)
    return leaving
  }

  async function end(how: 'ended' | 'lost' | 'broken' | 'drained', why: ErrorData | undefined, graceMs: number) {
    // Nobody would take what is not in the stream yet.
    if (how === 'ended' || how === 'lost') over.abort()
    if (how === 'broken' && why !== undefined) dispatcher.tell({ type: 'worker-refused', node, error: why })
    await plans.close()
    if (graceMs > 0) await within(clock, graceMs, groups.empty())
    await engine.cancel().catch(onTrouble)
    await groups.flushed()
    if (how === 'ended' || how === 'lost') groups.drop()
    else await groups.handBack(why)
    over.abort()
    await beating
    lastStats = engine.poolStats()
    lastStats.catch(() => {}) // Whoever asks for them hears of it.
    const drained = await leased.close()
    leaveAccounts()
    // Behind the answer to whoever has asked for this.
    void Promise.resolve().then(() => {
      deskRef.tell({ type: 'close-desk' })
      if (how === 'lost' && why !== undefined) links.drop(entry.node, why)
      ports.onOver(why, how !== 'lost', groups.load.runs)
    })
    return drained
  }

  return {
    entry,
    sign: beat.sign,
    replaced: () => void leave('lost', coordinatorReplaced(jobId)),
    async drain(graceMs) {
      await leave('drained', undefined, graceMs)
    },
  }
}
