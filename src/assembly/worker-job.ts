import { type JsMsg, jetstream } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import type { AskDurable, DispatcherMessage, GroupSoFar, WorkerNote } from '../../actors/cluster-messages.ts'
import { desk } from '../../actors/desk.ts'
import type { AgentSpec } from '../agents/agent.ts'
import { resolveAgent } from '../agents/create-agent.ts'
import type { Clock } from '../clock.ts'
import type { Credits } from '../cluster/credits.ts'
import { agentCannotTravel, coordinatorLost, coordinatorReplaced, workerRefused } from '../cluster/errors.ts'
import type { JobEntry, RuntimeRequest } from '../cluster/job-board.ts'
import type { Leases } from '../cluster/leases.ts'
import type { NodeLinks } from '../cluster/node-links.ts'
import { openParcels } from '../cluster/parcels.ts'
import { fromSharedAgent } from '../cluster/places.ts'
import { pullPlans } from '../cluster/plan-pull.ts'
import { makePublisher, surely } from '../cluster/publish.ts'
import { makeTracePacker } from '../cluster/run-traces.ts'
import { isMissing, MOST_DELIVERIES } from '../cluster/streams.ts'
import { untilAborted } from '../cluster/until-aborted.ts'
import { type PlanMessage, parsePlan } from '../cluster/wire.ts'
import { type ErrorData, hasTag, TroupeError, toErrorData } from '../errors.ts'
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
import { makeWorkerLimits } from './worker-limits.ts'

export interface WorkerJobPorts {
  readonly connection: NatsConnection
  /** The worker's, and its links. */
  readonly system: ActorSystem
  readonly links: NodeLinks
  readonly note: Omit<WorkerNote, 'credits'>
  readonly limits: WorkerLimits
  readonly credits: Credits
  readonly leases: Leases
  /** The worker ends. */
  readonly stopping: AbortSignal
  /** That the worker works for now: they share what is free. */
  readonly jobs: () => number
  readonly clock: Clock
  /** A runtime of this worker's own. Throws where this machine cannot have it. */
  readonly makeRuntime: (request: RuntimeRequest) => Promise<Runtime>
  /** Its work for the job is over; `why` where that was not wanted. Unless it is for good, it begins anew when the coordinator is heard of again. */
  readonly onOver: (why: ErrorData | undefined, isForGood: boolean) => void
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
  const { jobId, epoch } = entry
  const { node } = ports.note
  const over = new AbortController()
  const waiting = makeWaitingBytes(WAITING_BYTES)
  const publisher = makePublisher({ client: jetstream(connection), clock, signal: over.signal, onTrouble })
  const groups = makeWorkerGroups({
    publisher,
    parcels: openParcels(connection),
    credits,
    packTrace: makeTracePacker(node, clock),
    waiting,
    onError: onTrouble,
  })
  links.connect(entry.node)
  const dispatcher: Ref<DispatcherMessage> = system.ref(entry.dispatcher)
  const limits = makeWorkerLimits(system, dispatcher, clock, over.signal)
  const leased = await startLeasedEngine(entry, {
    ...ports,
    waiting,
    makeRuntime: async request => limits.shared(await ports.makeRuntime(request)),
    traced: groups.traced,
    onRun: groups.runEnded,
    onGroup: groups.groupEnded,
    onFailed: error => void leave('broken', error),
  }).catch(refuse)
  const { runtime, engine } = leased
  /** Plans that are looked at before they run. */
  const begun = new Set<Promise<void>>()
  /** Until the group is over that has taken as many workers down as it may. */
  let suspect: Promise<void> | undefined
  /** Cancels of the coordinator so far: what was handed out before them is given up. */
  let cancelled = -1
  let leaving: Promise<Drained> | undefined
  /** Of its pool before that ended: whoever asks then is told these. */
  let lastStats: Promise<PoolStats> | undefined
  let lastAgent: { readonly text: string; readonly checked: Promise<unknown> } | undefined

  /** The coordinator is told why, so that somebody who looks there need not look here. */
  function refuse(thrown: unknown): never {
    const error = workerRefused(node, toErrorData(thrown))
    dispatcher.tell({ type: 'worker-refused', node, error })
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
      hold: limits.hold,
      onFailed: error => onTrouble(toErrorData(error)),
    }),
  )
  /** Members of the last group: a claim is for groups like it. Of the first nobody knows, so one is claimed. */
  let size = ports.limits.maxConcurrent
  let claimed = { groups: 0, size }
  let isIdle = false
  const unclaim = (unused: number) => {
    claimed = { ...claimed, groups: claimed.groups - unused }
    credits.giveBack(unused * claimed.size)
  }
  const pulling = pullPlans({
    connection,
    jobId,
    life: entry.life,
    clock,
    claim() {
      // What a job without plans has claimed, another lacks.
      const share = isIdle ? 0 : 1 / ports.jobs()
      isIdle = true
      claimed = { groups: suspect === undefined ? credits.claim(size, share) : 0, size }
      return claimed.groups
    },
    giveBack: unclaim,
    room: signal => (suspect === undefined ? credits.room(signal) : Promise.race([suspect, untilAborted(signal)])),
    onPlan(message) {
      isIdle = false
      unclaim(1)
      // What is no plan is not given out again; all else ends with the job.
      begin(message).catch(error => {
        if (over.signal.aborted) return
        onTrouble(error)
        if (hasTag(error, 'bad-cluster-message')) message.term('it is no plan')
      })
    },
    // Whoever takes the job over takes the consumer away.
    onError: error => over.signal.aborted || isMissing(error) || onTrouble(error),
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

  async function begin(message: JsMsg): Promise<void> {
    const received = parsePlan(message.subject, message.data)
    size = received.plan.members.length
    // Of a life that is over, or given up since: its coordinator knows.
    if (received.epoch !== epoch || received.generation <= cancelled) return message.ack()
    const losses = groups.receive(received, message)
    if (losses === undefined) return
    if (losses >= MOST_DELIVERIES) return groups.exhausted(received)
    if (suspect !== undefined || losses < MOST_DELIVERIES - 1) {
      const taking = take(received, message.redelivered, async () => suspect === undefined)
      begun.add(taking)
      return taking.finally(() => begun.delete(taking))
    }
    // One more worker lost, and it counts as lost: it gets this one to itself, so that those that only shared a worker with the culprit are not blamed.
    const { groupId } = received.plan
    let end = () => {}
    suspect = new Promise(resolve => {
      end = resolve
    })
    try {
      await take(received, message.redelivered, async () => {
        await pulling.idle()
        await Promise.allSettled(begun)
        await groups.alone(groupId)
        return true
      })
      await groups.gone(groupId)
    } finally {
      suspect = undefined
      end()
    }
  }

  /** Goes on with what is durable by now. `mayRun`: else somebody else is to. */
  async function take(received: PlanMessage, isRepeated: boolean, mayRun: () => Promise<boolean>): Promise<void> {
    const { plan, start, generation } = received
    let { durable } = received
    if (isRepeated) {
      const question: AskDurable = { type: 'ask-durable', groupId: plan.groupId, start }
      // Its room is nobody else's until it is known whether it comes.
      const held = plan.members.length
      credits.take(held)
      let answer: GroupSoFar
      try {
        answer = await surely(publisher, () => system.ask(dispatcher, question, DURABLE_MS))
      } finally {
        credits.giveBack(held)
      }
      if (!answer.isWanted || generation <= cancelled) return groups.refuse(plan.groupId)
      durable = answer.durable
    }
    groups.add(received, durable)
    const isMine = leaving === undefined && (await mayRun())
    if (!groups.has(plan.groupId)) return
    if (!isMine || leaving !== undefined) return groups.handBack(undefined, plan.groupId)
    const agent = fromSharedAgent(received.agent, process.cwd())
    try {
      if (agent.kind === 'held') throw agentCannotTravel()
      await checkAgent(agent)
      engine.run([{ plan, durable: durable.map(header => ({ header, trajectory: NOTHING })) }], agent)
    } catch (error) {
      void leave('broken', toErrorData(error))
    }
  }

  /** What it lacks here, a module or a key, is said before a sandbox is taken. */
  function checkAgent(agent: AgentSpec): Promise<unknown> {
    const text = JSON.stringify(agent)
    if (lastAgent?.text !== text) lastAgent = { text, checked: resolveAgent(agent) }
    return lastAgent.checked
  }

  async function cancel(generation: number): Promise<void> {
    cancelled = Math.max(cancelled, generation)
    await engine.cancel()
    await groups.flushed()
    groups.drop()
  }

  /** What it has, and what it could take beside that. */
  function creditsNow(): number {
    return groups.rollouts + (leaving === undefined ? claimed.groups * claimed.size + credits.free : 0)
  }

  function leave(how: 'ended' | 'lost' | 'broken' | 'drained', why?: ErrorData, graceMs = 0): Promise<Drained> {
    leaving ??= end(how, why, graceMs)
    return leaving
  }

  async function end(how: 'ended' | 'lost' | 'broken' | 'drained', why: ErrorData | undefined, graceMs: number) {
    // Nobody would take what is not in the stream yet.
    if (how === 'ended' || how === 'lost') over.abort()
    if (how === 'broken' && why !== undefined) dispatcher.tell({ type: 'worker-refused', node, error: why })
    await pulling.close()
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
    // Behind the answer to whoever has asked for this.
    void Promise.resolve().then(() => {
      deskRef.tell({ type: 'close-desk' })
      if (how === 'lost' && why !== undefined) links.drop(entry.node, why)
      ports.onOver(why, how !== 'lost')
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

const NOTHING = new Uint8Array(0)
