import type { AgentRef } from '../src/agents/agent.ts'
import type { ErrorData } from '../src/errors.ts'
import type { GroupId } from '../src/ids.ts'
import { isJournalFull } from '../src/journal/errors.ts'
import type { Actor, Context } from '../src/kernel/actor.ts'
import type { Ref } from '../src/kernel/ref.ts'
import { makeDeadGroupBreaker } from '../src/rollout/breaker.ts'
import type { DurableRun } from '../src/rollout/run.ts'
import type { GroupPlan, PlannedGroup } from '../src/taskset/plan.ts'
import { chooseThread } from '../src/threads/placement.ts'
import type { CollectorMessage, PoolMessage, ShardMessage, SupervisorMessage } from './messages.ts'
import {
  countRuns,
  type Flight,
  type LostGroup,
  type Queued,
  type Shard,
  type SupervisorState,
  toInitialState,
} from './supervisor-state.ts'

export interface SupervisorPorts {
  readonly pool: Ref<PoolMessage>
  readonly collector: Ref<CollectorMessage>
  /** Members of a lost group that are durable all the same. */
  readonly durableRuns: (plan: GroupPlan) => Promise<readonly DurableRun[]>
  /** Ends a group that threads keep dying on: journals its missing members as lost and tells the collector. */
  readonly recordLoss: (group: LostGroup, agent: AgentRef, error: ErrorData) => Promise<void>
  /** True while finished groups that nobody has taken hold too many bytes. */
  readonly isFull: () => boolean
  /** The engine cannot go on; told once, after everything in flight was cancelled. */
  readonly onFailed: (error: ErrorData) => void
  /** A group is handed to a thread; again, when that thread was lost. */
  readonly onStarted?: (group: PlannedGroup, agent: AgentRef) => void
  /** The share of its runs that is drawn as traces; undefined where nobody draws any. Asked for each group that is started. */
  readonly traced?: (groupId: GroupId) => number | undefined
  /** Rollouts that hold a credit now, after each message. */
  readonly onCredits?: (inUse: number) => void
  readonly maxConcurrent: number
  readonly deadGroupLimit: number
}

/** How often a group may take its thread down before its members count as lost. */
const MAX_LOSSES = 2

/** Hands group plans to threads, one per credit, and sees every group to its end whatever happens to the thread. */
export function supervisor(ports: SupervisorPorts): Actor<SupervisorState, SupervisorMessage> {
  const breaker = makeDeadGroupBreaker(ports.deadGroupLimit)
  return {
    name: 'supervisor',
    capacity: 1_000_000,
    initial: toInitialState,
    receive(state, message, context) {
      handle(state, message, context)
      dispatch(state)
      settleCancel(state)
      ports.onCredits?.(state.unfinished)
      return state
    },
  }

  function handle(state: SupervisorState, message: SupervisorMessage, context: Context<SupervisorMessage>): void {
    switch (message.type) {
      case 'run-groups':
        breaker.reset()
        for (const group of message.groups) state.queue.push({ ...group, agent: message.agent, losses: 0 })
        state.expected = Math.max(0, state.expected - countRuns(message.groups))
        tellDemand(state)
        return
      case 'expect':
        state.expected = message.rollouts
        tellDemand(state)
        return
      case 'shard-up':
        state.shards.set(message.node, { root: message.root, members: 0, groups: 0, alone: false })
        return
      case 'shard-down':
        state.shards.delete(message.node)
        for (const flight of [...state.flights.values()])
          if (flight.node === message.node) recover(state, flight, message.error)
        if (message.error.tag === 'threads-failing') beginCancel(state, undefined, message.error)
        return
      case 'group-crashed': {
        const flight = state.flights.get(message.groupId)
        if (flight !== undefined) recover(state, flight, message.error, message.losses)
        // To run the group again would cost sandboxes for what cannot be kept, and to call it lost would keep it from ever being run.
        if (isJournalFull(message.error)) beginCancel(state, undefined, message.error)
        return
      }
      case 'group-lost-known': {
        const plan = state.recovering.get(message.groupId)?.group.plan
        if (plan === undefined) return
        context.pipe(ports.durableRuns(plan), settled => ({ ...message, type: 'durable-found', settled }))
        return
      }
      case 'durable-found': {
        const entry = state.recovering.get(message.groupId)
        if (entry === undefined) return
        if (message.settled.ok) requeue(state, { ...entry.group, durable: message.settled.value }, entry.error, context)
        else abandon(state, message.groupId, message.settled.error)
        return
      }
      case 'loss-recorded':
        // Told to the collector too, which says when the group is over.
        if (!message.settled.ok) abandon(state, message.groupId, message.settled.error)
        return
      case 'run-over': {
        const flight = state.flights.get(message.groupId)
        // Those that were durable before, or are told of a second time, hold no credit.
        if (flight === undefined || !flight.open.delete(message.runId)) return
        state.unfinished -= 1
        const shard = state.shards.get(flight.node)
        if (shard !== undefined) shard.members -= 1
        return
      }
      case 'group-over': {
        const flight = state.flights.get(message.groupId)
        if (flight === undefined) takeBack(state, message.groupId)
        else forget(state, message.groupId)
        // Where an earlier start has ended, the one that goes on may still be heard of.
        if (flight === undefined || flight.losses === message.losses)
          ports.collector.tell({ type: 'group-closed', groupId: message.groupId })
        const failure = breaker.groupOver(message.graded, message.error)
        if (failure !== undefined) beginCancel(state, undefined, failure)
        return
      }
      case 'group-cancelled':
        forget(state, message.groupId)
        leave(state, message.groupId)
        return
      case 'group-left-known':
        return void state.leaving.delete(message.groupId)
      case 'cancel-all':
        beginCancel(state, context.replyTo, undefined)
        return
      case 'ask-shards':
        context.reply(message, [...state.shards.values()].map(toRoot))
        return
      case 'room':
        return
    }
  }

  function dispatch(state: SupervisorState): void {
    while (state.mode.type === 'running' && state.unfinished < ports.maxConcurrent && !ports.isFull()) {
      const [next] = state.queue
      const [node, shard] = (next && chooseThread(state.shards, isSuspect(next))) ?? []
      if (next === undefined || node === undefined || shard === undefined) break
      state.queue.shift()
      const open = new Set(next.plan.members.map(({ runId }) => runId))
      for (const { header } of next.durable) open.delete(header.runId)
      state.flights.set(next.plan.groupId, { ...next, node, open })
      state.unfinished += open.size
      shard.members += open.size
      shard.groups += 1
      shard.alone = isSuspect(next)
      for (const { header, trajectory } of next.durable)
        ports.collector.tell({ type: 'run-completed', header, trajectory })
      const durable = next.durable.map(({ header }) => header)
      const { plan, agent, losses } = next
      shard.root.tell({ type: 'start-group', plan, agent, durable, losses, traced: ports.traced?.(plan.groupId) })
      ports.onStarted?.(next, next.agent)
    }
  }

  /** Told before the groups are started: the pool counts down with each lease it is asked for. */
  function tellDemand(state: SupervisorState): void {
    ports.pool.tell({ type: 'demand', remaining: countRuns(state.queue) + state.expected })
  }

  function recover(state: SupervisorState, flight: Flight, error: ErrorData, losses = flight.losses + 1): void {
    forget(state, flight.plan.groupId)
    const group: Queued = { plan: flight.plan, durable: flight.durable, agent: flight.agent, losses }
    state.recovering.set(group.plan.groupId, { group, error })
    // What its thread had told the collector is taken in first, so that it is not looked for too early.
    ports.collector.tell({ type: 'group-lost', groupId: group.plan.groupId })
  }

  function requeue(state: SupervisorState, group: Queued, error: ErrorData, context: Context<SupervisorMessage>): void {
    const { groupId } = group.plan
    // In recovery until it is over: a cancel waits for that.
    if (group.losses > MAX_LOSSES && !isJournalFull(error)) {
      context.pipe(ports.recordLoss(group, group.agent, error), settled => ({
        type: 'loss-recorded',
        groupId,
        settled,
      }))
      return
    }
    state.recovering.delete(groupId)
    if (state.mode.type === 'running') {
      state.queue.unshift(group)
      tellDemand(state)
    } else leave(state, groupId)
  }

  function leave(state: SupervisorState, groupId: GroupId): void {
    state.leaving.add(groupId)
    ports.collector.tell({ type: 'group-left', groupId })
  }

  /** Nobody can tell any more what became of the group. */
  function abandon(state: SupervisorState, groupId: GroupId, error: ErrorData): void {
    state.recovering.delete(groupId)
    beginCancel(state, undefined, error)
  }

  /** The group has its end although its thread was lost, which it may have told just before. Nothing of it is to be done again. */
  function takeBack(state: SupervisorState, groupId: GroupId): void {
    if (state.recovering.delete(groupId) || state.queue[0]?.losses === 0) return
    state.queue = state.queue.filter(({ plan }) => plan.groupId !== groupId)
  }

  function beginCancel(state: SupervisorState, asked: Ref<unknown> | undefined, failure: ErrorData | undefined): void {
    const before = state.mode
    if (before.type === 'failed') {
      asked?.tell({ type: 'all-cancelled' })
      return
    }
    const earlier = before.type === 'cancelling' ? before : { asked: [], failure: undefined }
    state.mode = {
      type: 'cancelling',
      asked: asked === undefined ? earlier.asked : [...earlier.asked, asked],
      failure: earlier.failure ?? failure,
    }
    if (before.type === 'running') for (const { root } of state.shards.values()) root.tell({ type: 'cancel-groups' })
  }

  /** Answers the cancel once nothing is in flight. What is still queued stays pending and can be run again. */
  function settleCancel(state: SupervisorState): void {
    const { mode } = state
    if (mode.type !== 'cancelling' || state.flights.size + state.recovering.size + state.leaving.size > 0) return
    state.queue = []
    state.expected = 0
    tellDemand(state)
    state.mode = mode.failure === undefined ? { type: 'running' } : { type: 'failed' }
    for (const asker of mode.asked) asker.tell({ type: 'all-cancelled' })
    if (mode.failure !== undefined) ports.onFailed(mode.failure)
  }

  function forget(state: SupervisorState, groupId: GroupId): void {
    const flight = state.flights.get(groupId)
    if (flight === undefined) return
    state.flights.delete(groupId)
    state.unfinished -= flight.open.size
    const shard = state.shards.get(flight.node)
    if (shard === undefined) return
    shard.members -= flight.open.size
    shard.groups -= 1
    shard.alone = false
  }
}

const toRoot = ({ root }: Shard): Ref<ShardMessage> => root

/** One more lost thread, and its members count as lost. */
function isSuspect({ losses }: Queued): boolean {
  return losses === MAX_LOSSES
}
