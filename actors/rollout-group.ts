import { setMaxListeners } from 'node:events'
import type { Agent, AgentRef } from '../src/agents/agent.ts'
import { withTaskConfig } from '../src/agents/task-config.ts'
import type { Clock } from '../src/clock.ts'
import { type ErrorData, fromErrorData, TroupeError } from '../src/errors.ts'
import { type LeaseId, toLeaseId } from '../src/ids.ts'
import type { Deadlines } from '../src/job/options.ts'
import type { Journal } from '../src/journal/journal.ts'
import type { Actor, Context } from '../src/kernel/actor.ts'
import type { Ref } from '../src/kernel/ref.ts'
import { withTaskDeadlines } from '../src/rollout/deadlines.ts'
import type { Gate } from '../src/rollout/gate.ts'
import type { GroupStrategy } from '../src/rollout/group.ts'
import { decideGroupEnd } from '../src/rollout/group-end.ts'
import { toRunHeader } from '../src/rollout/header.ts'
import type { LiveBoard, LiveMark } from '../src/rollout/live.ts'
import { packTrajectory } from '../src/rollout/pack.ts'
import { rollout } from '../src/rollout/rollout.ts'
import type { RunHeader } from '../src/rollout/run.ts'
import type { MemberPlan } from '../src/taskset/plan.ts'
import { type AttemptTrace, toAttemptTrace, traceparentsOf } from '../src/telemetry/traces/run-trace.ts'
import { openShell } from '../src/wire/open-shell.ts'
import type { ControlClient } from '../src/wire/session.ts'
import { makeLeasePorts, type WantedLease } from './lease-ports.ts'
import type {
  AttemptEnd,
  CollectorMessage,
  PoolMessage,
  RolloutGroupMessage,
  StartGroup,
  SupervisorMessage,
} from './messages.ts'

/** What all groups of one thread share. */
export interface GroupPorts {
  readonly clock: Clock
  readonly client: ControlClient
  readonly journal: Pick<Journal, 'putRun' | 'putGroup'>
  /** Loads an agent once a thread; rejects where it cannot be loaded. */
  readonly agents: (ref: AgentRef) => Promise<Agent>
  readonly pool: Ref<PoolMessage>
  readonly collector: Ref<CollectorMessage>
  readonly supervisor: Ref<SupervisorMessage>
  /** Bounds the runs of this thread that are packed and not yet durable: when all end at once, memory holds some, not all. */
  readonly finishing: Gate
  /** Who is in which phase, for whoever asks the shard. */
  readonly live: LiveBoard
  readonly deadlines: Deadlines
  readonly retries: number
  readonly strategy: GroupStrategy
}

/** Pause before a retry on a fresh sandbox: 250 ms, doubling, halved at most by chance. */
const RETRY_BASE_MS = 250

interface GroupState {
  readonly cancel: AbortController
  readonly attempts: Map<string, number>
  readonly terminal: Map<string, RunHeader>
  /** Members whose attempt is under way or waits for its retry. */
  readonly open: Set<string>
  /** Who wants to hear that its sandbox has died, by lease, until it is given back. */
  readonly lessees: Map<LeaseId, (why: ErrorData) => void>
  /** Of drawn runs that are not over, by run id: their attempts so far. */
  readonly traces: Map<string, readonly AttemptTrace[]>
  /** Ends of attempts on their way to the journal. */
  readonly finishing: Set<Promise<unknown>>
  /** Nothing more is written: who looks into the journal from now on sees all that there will be. */
  isOver: boolean
}

/** The members of one group: starts them all, tries again what is worth it, and ends in exactly one state. */
export function rolloutGroup(start: StartGroup, ports: GroupPorts): Actor<GroupState, RolloutGroupMessage> {
  const { plan } = start
  return {
    name: 'group',
    initial(context) {
      const cancel = new AbortController()
      // Each member listens, with what it waits for at the time: as many as there are members, and no leak.
      setMaxListeners(0, cancel.signal)
      const state: GroupState = {
        cancel,
        attempts: new Map(),
        terminal: new Map(start.durable.map(header => [header.runId, header])),
        open: new Set(),
        lessees: new Map(),
        traces: new Map(),
        finishing: new Set(),
        isOver: false,
      }
      for (const member of plan.members) if (!state.terminal.has(member.runId)) startAttempt(state, member, context)
      if (state.open.size === 0) endGroup(state, context)
      return state
    },
    receive(state, message, context) {
      switch (message.type) {
        case 'attempt-ended':
          // A journal that cannot take the run is a defect the supervisor must see: fail as a whole.
          if (!message.settled.ok) throw fromErrorData(message.settled.error)
          onAttemptEnd(state, message.settled.value, context)
          return state
        case 'retry': {
          const member = plan.members.find(({ runId }) => runId === message.runId)
          const { signal } = state.cancel
          // In a group that was dropped meanwhile the attempt is cut at once, which is the member's end.
          if (member !== undefined && (!signal.aborted || isDropped(signal))) startAttempt(state, member, context)
          else if (state.open.delete(message.runId)) leaveIfSettled(state, context)
          return state
        }
        case 'lease-lost':
          state.lessees.get(message.leaseId)?.(message.error)
          return state
        case 'cancel-groups':
          state.cancel.abort(engineCancelled())
          leaveIfSettled(state, context)
          return state
        case 'group-durable':
          if (!message.settled.ok) throw fromErrorData(message.settled.error)
          ports.collector.tell({ type: 'group-ended', plan, end: message.end, losses: start.losses })
          context.stop()
          return state
      }
    },
    onStop(state) {
      // Only a group that is stopped before its end has anything left to cancel.
      if (state.open.size > 0) state.cancel.abort(engineCancelled())
      state.isOver = true
      return state.finishing.size === 0 ? undefined : Promise.allSettled(state.finishing).then(() => {})
    },
  }

  function startAttempt(state: GroupState, member: MemberPlan, context: Context<RolloutGroupMessage>): void {
    const attempt = (state.attempts.get(member.runId) ?? 0) + 1
    state.attempts.set(member.runId, attempt)
    state.open.add(member.runId)
    context.pipe(runAttempt(state, member, attempt, context), settled => ({
      type: 'attempt-ended',
      runId: member.runId,
      settled,
    }))
  }

  async function runAttempt(
    state: GroupState,
    member: MemberPlan,
    attempt: number,
    context: Context<RolloutGroupMessage>,
  ): Promise<AttemptEnd> {
    const { groupId, step, task } = plan
    const { runId } = member
    const mark = ports.live.begin({ runId, groupId, slug: task.slug, step, member: member.member, attempt })
    try {
      return await playAttempt(state, member, attempt, context, mark)
    } finally {
      mark.end()
    }
  }

  async function playAttempt(
    state: GroupState,
    member: MemberPlan,
    attempt: number,
    context: Context<RolloutGroupMessage>,
    mark: LiveMark,
  ): Promise<AttemptEnd> {
    const cancel = state.cancel.signal
    const agent = await ports.agents(withTaskConfig(start.agent, plan.task))
    const leaseId = `${member.runId}.${attempt}`
    const leases = (wanted: WantedLease) => makeLeasePorts(wanted, ports.pool, context, state.lessees)
    const traceparents = traceparentsOf(plan, member, attempt, start.traced)
    const end = await rollout(
      {
        task: plan.task,
        seed: member.seed,
        deadlines: withTaskDeadlines(ports.deadlines, plan.task),
        cancel,
        ...(traceparents === undefined ? {} : { traceparents }),
      },
      {
        clock: ports.clock,
        client: ports.client,
        agent,
        onPhase: mark.enter,
        openShell: (session, signal, traceparent) => openShell(session, ports.clock, signal, traceparent),
        ...leases({ leaseId: toLeaseId(leaseId), runId: member.runId, task: plan.task }),
        verifier: leases({
          leaseId: toLeaseId(`${leaseId}.verifier`),
          runId: member.runId,
          task: plan.task.verifier ?? plan.task,
          isExtra: true,
        }),
      },
    )
    const finishing = ports.finishing.run(async () => {
      const trajectory = packTrajectory(end.trajectory)
      const header = toRunHeader(plan, member, { attempt, agent: agent.name, bytes: trajectory.byteLength }, end)
      const verdict = toVerdict(end.outcome === 'cancelled', end.retryable, attempt, cancel)
      if (verdict === 'terminal' && !state.isOver) await ports.journal.putRun(header, trajectory)
      const trace = traceparents === undefined ? {} : { trace: toAttemptTrace(attempt, end) }
      return { header, verdict, trajectory, ...trace }
    })
    state.finishing.add(finishing)
    try {
      return await finishing
    } finally {
      state.finishing.delete(finishing)
    }
  }

  /** A member cancelled because its group is dropped is over; one cancelled with the whole run is still to be done. */
  function toVerdict(
    cancelled: boolean,
    retryable: boolean,
    attempt: number,
    cancel: AbortSignal,
  ): AttemptEnd['verdict'] {
    if (cancelled) return isDropped(cancel) ? 'terminal' : 'cancelled'
    return retryable && attempt <= ports.retries ? 'retry' : 'terminal'
  }

  function onAttemptEnd(state: GroupState, ended: AttemptEnd, context: Context<RolloutGroupMessage>): void {
    const { header, verdict, trajectory, trace } = ended
    const attempts = [...(state.traces.get(header.runId) ?? []), ...(trace === undefined ? [] : [trace])]
    if (verdict === 'retry') {
      if (trace !== undefined) state.traces.set(header.runId, attempts)
      const pauseMs = RETRY_BASE_MS * 2 ** (header.attempt - 1) * (0.5 + context.random() / 2)
      context.after(state.cancel.signal.aborted ? 0 : pauseMs, { type: 'retry', runId: header.runId })
      return
    }
    state.open.delete(header.runId)
    state.traces.delete(header.runId)
    if (verdict === 'terminal') {
      state.terminal.set(header.runId, header)
      const completed = { type: 'run-completed', header, trajectory } as const
      ports.collector.tell(trace === undefined ? completed : { ...completed, trace: { attempts } })
      // The strategy `drop` has no use for the siblings of a lost member: stop paying for them.
      if (header.reward === null && ports.strategy.type === 'drop' && !state.cancel.signal.aborted)
        state.cancel.abort(
          new TroupeError({ tag: 'group-dropped', message: 'a sibling was lost and the strategy is "drop"' }),
        )
    }
    if (state.open.size > 0) return
    if (state.terminal.size === plan.members.length) endGroup(state, context)
    else leaveIfSettled(state, context)
  }

  function endGroup(state: GroupState, context: Context<RolloutGroupMessage>): void {
    const runs = plan.members.flatMap(({ runId }) => state.terminal.get(runId) ?? [])
    const end = decideGroupEnd(ports.strategy, runs)
    const { jobId, groupId, step, index, task } = plan
    context.pipe(ports.journal.putGroup({ jobId, groupId, step, index, task, end, runs }), settled => ({
      type: 'group-durable',
      end,
      settled,
    }))
  }

  function leaveIfSettled(state: GroupState, context: Context<RolloutGroupMessage>): void {
    if (state.open.size > 0 || state.terminal.size === plan.members.length) return
    ports.supervisor.tell({ type: 'group-cancelled', groupId: plan.groupId })
    context.stop()
  }
}

function engineCancelled(): TroupeError {
  return new TroupeError({ tag: 'engine-cancelled', message: 'the run was cancelled' })
}

function isDropped(cancel: AbortSignal): boolean {
  return cancel.reason instanceof TroupeError && cancel.reason.tag === 'group-dropped'
}
