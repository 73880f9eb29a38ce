import type { ErrorData } from '../src/errors.ts'
import type { GroupId, RunId } from '../src/ids.ts'
import type { Actor, Context } from '../src/kernel/actor.ts'
import { decideGroupEnd } from '../src/rollout/group-end.ts'
import type { RunHeader } from '../src/rollout/run.ts'
import type { ArrivedRun, AskDurable, CancelJob, DispatcherMessage, GroupSoFar } from './cluster-messages.ts'
import { endLimits, keepLimit, signLimits } from './dispatcher-limits.ts'
import type { DispatcherPorts, HandOut } from './dispatcher-ports.ts'
import { countOpen, type DispatcherState, type OpenGroup, takeIn, toInitialState } from './dispatcher-state.ts'
import { answerLive, lose, reap, seeLeases, tellFigures, welcome } from './dispatcher-workers.ts'
import type { StartGroup } from './messages.ts'

const TICK_MS = 500
/** Below what the engine's own questions wait. */
const CANCEL_MS = 45_000
/** Of no handing out in particular. */
export const ANY_START = -1

/**
 * Hosts the groups of all workers as a shard does those of a thread: puts plans into the stream while workers have credits, and ends a group when each of its members
 * has a run.
 */
export function dispatcher(ports: DispatcherPorts): Actor<DispatcherState, DispatcherMessage> {
  return {
    name: 'dispatcher',
    // Bounded by credits, as the collector's.
    capacity: 1_000_000,
    initial(context) {
      context.after(TICK_MS, { type: 'dispatcher-tick' })
      const state = toInitialState(ports.limits.node, context.clock.now())
      signLimits(state, ports.limits, context)
      return state
    },
    receive(state, message, context) {
      handle(state, message, context)
      handOut(state)
      return state
    },
    onSignal(state, signal, context) {
      if (signal.type === 'terminated') lose(state, ports, signal.address, signal.reason, context)
      return state
    },
    onStop: (state, context) => endLimits(state, ports.limits, context),
  }

  function handle(state: DispatcherState, message: DispatcherMessage, context: Context<DispatcherMessage>): void {
    switch (message.type) {
      case 'start-group':
        begin(state, message, context)
        return
      case 'run-arrived': {
        const entry = state.open.get(message.header.groupId)
        if (entry !== undefined) take(state, entry, message, context)
        return
      }
      case 'run-early': {
        const { groupId, runId } = message.header
        const runs = state.early.get(groupId) ?? new Map<RunId, RunHeader>()
        state.early.set(groupId, runs.set(runId, message.header))
        return
      }
      case 'group-kept': {
        const entry = state.open.get(message.groupId)
        if (entry === undefined) return
        const { plan, losses } = entry.group
        forget(state, entry)
        if (!message.settled.ok) crash(message.groupId, message.settled.error)
        else ports.collector.tell({ type: 'group-ended', plan, end: message.end, losses })
        return
      }
      case 'handed-back': {
        const entry = find(state, message)
        if (entry === undefined) return
        takeIn(state, entry)
        entry.losses = message.losses ?? entry.losses
        state.queue.add(entry)
        return
      }
      case 'exhausted': {
        const entry = find(state, message)
        if (entry === undefined) return
        const error = ports.bury(toHandOut(state, entry))
        forget(state, entry)
        crash(message.groupId, error, ports.mostLosses)
        return
      }
      case 'crashed': {
        const entry = find(state, message)
        if (entry === undefined) return
        forget(state, entry)
        crash(message.groupId, message.error)
        return
      }
      case 'ask-durable': {
        const { replyTo } = context
        const looked = ports.takenSoFar()
        context.pipe(looked, () => ({ type: 'group-settled', asked: message, replyTo }))
        return
      }
      case 'group-settled':
        message.replyTo?.tell(soFar(state, message.asked))
        return
      case 'worker-up':
        welcome(state, ports, message, context)
        return
      case 'worker-beat':
        state.workers.beat(message.node, message.credits, message.load, context.clock.now())
        return
      case 'worker-refused':
        ports.onTrouble(message.error)
        return
      case 'take-tokens':
      case 'give-tokens-back':
      case 'hold-creates':
      case 'limit-sign':
        keepLimit(state, ports.limits, message, context)
        return
      case 'dispatcher-tick':
        for (const { node, silentMs } of state.workers.silent(context.clock.now(), ports.silenceMs))
          ports.dropLink(node, silentMs)
        reap(state, ports, context)
        tellFigures(state, ports, context.clock)
        signLimits(state, ports.limits, context)
        context.after(TICK_MS, message)
        return
      case 'leases-seen':
        seeLeases(state, ports, message.leases)
        return
      case 'reaped':
        state.reaping.delete(message.owner)
        if (message.settled.ok) ports.onDead(message.owner, false)
        else {
          ports.onTrouble(message.settled.error)
          state.dead.set(message.owner, context.clock.now())
        }
        return
      case 'cancel-groups':
        cancel(state, context)
        return
      case 'cancel-settled':
        endCancel(state)
        return
      case 'ask-live':
        answerLive(state, message, context)
        return
    }
  }

  function begin(state: DispatcherState, group: StartGroup, context: Context<DispatcherMessage>): void {
    const { groupId, members } = group.plan
    const headers = new Map(group.durable.map(header => [header.runId, header]))
    const entry: OpenGroup = { group, headers, start: 0, losses: 0, isEnding: false }
    const early = state.early.get(groupId)
    state.open.set(groupId, entry)
    state.early.delete(groupId)
    for (const { runId } of members) if (!headers.has(runId)) ports.wanted.add(runId)
    for (const [runId, header] of early ?? [])
      if (ports.journal !== undefined && !headers.has(runId))
        take(state, entry, { header, trajectory: ports.journal.trajectory(runId) }, context)
    if (entry.isEnding) return
    if (countOpen(entry) === 0) end(entry, context)
    else state.queue.add(entry)
  }

  function take(
    state: DispatcherState,
    entry: OpenGroup,
    { header, trajectory, trace }: ArrivedRun,
    context: Context<DispatcherMessage>,
  ): void {
    if (entry.headers.has(header.runId)) return
    entry.headers.set(header.runId, header)
    ports.wanted.delete(header.runId)
    if (entry.start > 0) state.out -= 1
    ports.collector.tell({ type: 'run-completed', header, trajectory, trace })
    if (countOpen(entry) === 0) end(entry, context)
  }

  function end(entry: OpenGroup, context: Context<DispatcherMessage>): void {
    entry.isEnding = true
    const { plan } = entry.group
    const { jobId, groupId, step, index, task } = plan
    const runs = plan.members.flatMap(({ runId }) => entry.headers.get(runId) ?? [])
    const groupEnd = decideGroupEnd(ports.strategy, runs)
    const record = { jobId, groupId, step, index, task, end: groupEnd, runs }
    context.pipe(ports.journal?.putGroup(record) ?? Promise.resolve(), settled => ({
      type: 'group-kept',
      groupId,
      end: groupEnd,
      settled,
    }))
  }

  /** Nothing is in the stream beyond what workers have credits for; a group may go over, as it may in a thread. */
  function handOut(state: DispatcherState): void {
    for (const entry of state.queue) {
      if (state.isCancelling || state.out >= state.workers.credits) return
      state.queue.delete(entry)
      if (entry.isEnding || state.open.get(entry.group.plan.groupId) !== entry) continue
      state.starts += 1
      entry.start = state.starts
      state.out += countOpen(entry)
      ports.putPlan(toHandOut(state, entry))
    }
  }

  function toHandOut({ generation }: DispatcherState, { group, headers, start, losses }: OpenGroup): HandOut {
    const { plan, agent, traced } = group
    const share = traced === undefined ? {} : { traced }
    return { generation, start, losses, plan, agent, durable: [...headers.values()], ...share }
  }

  function find(
    state: DispatcherState,
    { groupId, start }: { readonly groupId: GroupId; readonly start: number },
  ): OpenGroup | undefined {
    const entry = state.open.get(groupId)
    const isMeant = entry !== undefined && !entry.isEnding && (start === ANY_START || start === entry.start)
    return isMeant ? entry : undefined
  }

  function forget(state: DispatcherState, entry: OpenGroup): void {
    takeIn(state, entry)
    state.queue.delete(entry)
    state.open.delete(entry.group.plan.groupId)
    for (const { runId } of entry.group.plan.members) ports.wanted.delete(runId)
  }

  function crash(groupId: GroupId, error: ErrorData, losses?: number): void {
    ports.supervisor.tell({ type: 'group-crashed', groupId, error, ...(losses === undefined ? {} : { losses }) })
  }

  function soFar(state: DispatcherState, { groupId, start }: AskDurable): GroupSoFar {
    const entry = find(state, { groupId, start })
    return { isWanted: entry !== undefined, durable: [...(entry?.headers.values() ?? [])] }
  }

  /** What is queued was given to nobody. The rest is taken from the stream, and the workers give it up; what ends meanwhile has its end. */
  function cancel(state: DispatcherState, context: Context<DispatcherMessage>): void {
    state.isCancelling = true
    state.generation += 1
    const question: CancelJob = { type: 'cancel-job', generation: state.generation - 1 }
    const desks = state.workers.desks()
    const work = async () => {
      await ports.purgePlans()
      // One that does not answer has gone, or soon will have.
      await Promise.allSettled(desks.map(desk => context.ask(desk, question, CANCEL_MS)))
      await ports.settled()
    }
    context.pipe(work(), settled => {
      if (!settled.ok) ports.onTrouble(settled.error)
      return { type: 'cancel-settled' }
    })
  }

  function endCancel(state: DispatcherState): void {
    state.isCancelling = false
    for (const entry of [...state.open.values()]) {
      if (entry.isEnding) continue
      forget(state, entry)
      ports.supervisor.tell({ type: 'group-cancelled', groupId: entry.group.plan.groupId })
    }
  }
}
