import type { AgentRef } from '../src/agents/agent.ts'
import type { ErrorData } from '../src/errors.ts'
import type { GroupId } from '../src/ids.ts'
import type { Actor, Context } from '../src/kernel/actor.ts'
import type { Ref } from '../src/kernel/ref.ts'
import { makeDeadGroupBreaker } from '../src/rollout/breaker.ts'
import type { DurableRun } from '../src/rollout/run.ts'
import type { GroupPlan, PlannedGroup } from '../src/taskset/plan.ts'
import type { CollectorMessage, PoolMessage, ShardMessage, SupervisorMessage } from './messages.ts'

export interface SupervisorPorts {
  readonly pool: Ref<PoolMessage>
  readonly collector: Ref<CollectorMessage>
  /** Members of a lost group that are durable all the same. */
  readonly durableRuns: (plan: GroupPlan) => Promise<readonly DurableRun[]>
  /** Ends a group that threads keep dying on: journals its missing members as lost and tells the collector. */
  readonly recordLoss: (group: PlannedGroup, agent: AgentRef, error: ErrorData) => Promise<void>
  /** True while finished groups that nobody has taken hold too many bytes. */
  readonly isFull: () => boolean
  /** The engine cannot go on; told once, after everything in flight was cancelled. */
  readonly onFailed: (error: ErrorData) => void
  readonly maxConcurrent: number
  readonly deadGroupLimit: number
}

/** How often a group may take its thread down before its members count as lost. */
const MAX_LOSSES = 2

interface Queued extends PlannedGroup {
  readonly agent: AgentRef
  readonly losses: number
}

interface Flight extends Queued {
  readonly node: string
  /** Members without a terminal run. */
  unfinished: number
}

type Mode =
  | { readonly type: 'running' }
  | { readonly type: 'cancelling'; readonly asked: readonly Ref<unknown>[]; readonly failure: ErrorData | undefined }
  | { readonly type: 'failed' }

interface Shard {
  readonly root: Ref<ShardMessage>
  /** Unfinished members there. */
  members: number
  groups: number
  /** It has a suspect to itself. */
  alone: boolean
}

interface SupervisorState {
  mode: Mode
  queue: Queued[]
  readonly flights: Map<GroupId, Flight>
  /** Groups between a lost thread and the look into the journal. */
  readonly recovering: Map<GroupId, { readonly group: Queued; readonly error: ErrorData }>
  readonly shards: Map<string, Shard>
  /** Unfinished members of all flights: what the credits bound. */
  unfinished: number
  /** Rollouts that were announced and have not been handed in yet. */
  expected: number
}

/** Hands group plans to threads, one per credit, and sees every group to its end whatever happens to the thread. */
export function supervisor(ports: SupervisorPorts): Actor<SupervisorState, SupervisorMessage> {
  const breaker = makeDeadGroupBreaker(ports.deadGroupLimit)
  return {
    name: 'supervisor',
    capacity: 1_000_000,
    initial: () => ({
      mode: { type: 'running' },
      queue: [],
      flights: new Map(),
      recovering: new Map(),
      shards: new Map(),
      unfinished: 0,
      expected: 0,
    }),
    receive(state, message, context) {
      handle(state, message, context)
      dispatch(state)
      settleCancel(state)
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
          if (flight.node === message.node) recover(state, flight, message.error, context)
        if (message.error.tag === 'threads-failing') beginCancel(state, undefined, message.error)
        return
      case 'group-crashed': {
        const flight = state.flights.get(message.groupId)
        if (flight !== undefined) recover(state, flight, message.error, context)
        return
      }
      case 'durable-found': {
        const entry = state.recovering.get(message.groupId)
        if (entry === undefined) return
        state.recovering.delete(message.groupId)
        if (message.settled.ok) requeue(state, { ...entry.group, durable: message.settled.value }, entry.error, context)
        else beginCancel(state, undefined, message.settled.error)
        return
      }
      case 'loss-recorded':
        if (!message.settled.ok) beginCancel(state, undefined, message.settled.error)
        return
      case 'run-over': {
        const flight = state.flights.get(message.groupId)
        if (flight === undefined) return
        flight.unfinished -= 1
        state.unfinished -= 1
        const shard = state.shards.get(flight.node)
        if (shard !== undefined) shard.members -= 1
        return
      }
      case 'group-over': {
        forget(state, message.groupId)
        const failure = breaker.groupOver(message.graded, message.error)
        if (failure !== undefined) beginCancel(state, undefined, failure)
        return
      }
      case 'group-cancelled':
        forget(state, message.groupId)
        ports.collector.tell({ type: 'group-left', groupId: message.groupId })
        return
      case 'cancel-all':
        beginCancel(state, context.replyTo, undefined)
        return
      case 'room':
        return
    }
  }

  function dispatch(state: SupervisorState): void {
    while (state.mode.type === 'running' && state.unfinished < ports.maxConcurrent && !ports.isFull()) {
      const [next] = state.queue
      if (next === undefined) break
      const [node, shard] = chooseShard(state, next) ?? []
      if (node === undefined || shard === undefined) break
      state.queue.shift()
      const unfinished = next.plan.members.length - next.durable.length
      state.flights.set(next.plan.groupId, { ...next, node, unfinished })
      state.unfinished += unfinished
      shard.members += unfinished
      shard.groups += 1
      shard.alone = isSuspect(next)
      for (const { header, trajectory } of next.durable)
        ports.collector.tell({ type: 'run-completed', header, trajectory })
      const durable = next.durable.map(({ header }) => header)
      shard.root.tell({ type: 'start-group', plan: next.plan, agent: next.agent, durable })
    }
  }

  /** Told before the groups are started: the pool counts down with each lease it is asked for. */
  function tellDemand(state: SupervisorState): void {
    ports.pool.tell({ type: 'demand', remaining: countRuns(state.queue) + state.expected })
  }

  function recover(
    state: SupervisorState,
    flight: Flight,
    error: ErrorData,
    context: Context<SupervisorMessage>,
  ): void {
    forget(state, flight.plan.groupId)
    const group: Queued = { plan: flight.plan, durable: flight.durable, agent: flight.agent, losses: flight.losses + 1 }
    state.recovering.set(group.plan.groupId, { group, error })
    context.pipe(ports.durableRuns(group.plan), settled => ({
      type: 'durable-found',
      groupId: group.plan.groupId,
      settled,
    }))
  }

  function requeue(state: SupervisorState, group: Queued, error: ErrorData, context: Context<SupervisorMessage>): void {
    const { groupId } = group.plan
    if (group.losses > MAX_LOSSES) {
      context.pipe(ports.recordLoss(group, group.agent, error), settled => ({
        type: 'loss-recorded',
        groupId,
        settled,
      }))
      return
    }
    if (state.mode.type === 'running') {
      state.queue.unshift(group)
      tellDemand(state)
    } else ports.collector.tell({ type: 'group-left', groupId })
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
    if (mode.type !== 'cancelling' || state.flights.size > 0 || state.recovering.size > 0) return
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
    state.unfinished -= flight.unfinished
    const shard = state.shards.get(flight.node)
    if (shard === undefined) return
    shard.members -= flight.unfinished
    shard.groups -= 1
    shard.alone = false
  }

  /**
   * The least loaded one. A suspect waits, at the head of the queue, for a thread of its own: when that dies too it is known who did
   * it, and groups that only shared a thread with the culprit are not blamed.
   */
  function chooseShard(state: SupervisorState, next: Queued): readonly [string, Shard] | undefined {
    let best: readonly [string, Shard] | undefined
    for (const entry of state.shards) {
      const [, shard] = entry
      if (shard.alone || (isSuspect(next) && shard.groups > 0)) continue
      if (best === undefined || shard.members < best[1].members) best = entry
    }
    return best
  }
}

/** Members that are still to be run. */
function countRuns(groups: readonly PlannedGroup[]): number {
  return groups.reduce((sum, { plan, durable }) => sum + plan.members.length - durable.length, 0)
}

/** One more lost thread, and its members count as lost. */
function isSuspect({ losses }: Queued): boolean {
  return losses === MAX_LOSSES
}
