/** What the dispatcher does about workers: who comes, who is lost, and what those have left. */
import type { Context, StopReason } from '../src/kernel/actor.ts'
import type { Ref } from '../src/kernel/ref.ts'
import { type LiveList, mergeLive } from '../src/rollout/live.ts'
import type { DeskMessage, DispatcherMessage, ReapOwners, WorkerNote } from './cluster-messages.ts'
import type { DispatcherPorts } from './dispatcher-ports.ts'
import type { DispatcherState } from './dispatcher-state.ts'
import type { AskLive } from './messages.ts'

const LIVE_MS = 800
const REAP_MS = 120_000
const NOTHING_LIVE: LiveList = { rollouts: [], phases: {} }

export function welcome(
  state: DispatcherState,
  ports: DispatcherPorts,
  worker: WorkerNote,
  desk: Ref<DeskMessage>,
  context: Context<DispatcherMessage>,
): void {
  const problem = ports.judgeWorker(worker)
  if (problem !== undefined) {
    ports.onTrouble(problem)
    return
  }
  state.workers.add(worker, desk, context.clock.now())
  if (state.dead.delete(worker.owner)) ports.onDead(worker.owner, false)
  context.watch(desk)
  ports.onWorkers(state.workers.desks())
}

/** One that stopped by itself has given everything back. */
export function lose(
  state: DispatcherState,
  ports: DispatcherPorts,
  address: string,
  reason: StopReason,
  context: Context<DispatcherMessage>,
): void {
  const note = state.workers.gone(address)
  if (note === undefined) return
  if (reason.type !== 'stopped' && !state.workers.hasOwner(note.owner)) {
    state.dead.set(note.owner, context.clock.now())
    ports.onDead(note.owner, true)
  }
  ports.onWorkers(state.workers.desks())
}

/** Whoever works deletes what the dead have left. */
export function reap(state: DispatcherState, ports: DispatcherPorts, context: Context<DispatcherMessage>): void {
  const [desk] = state.workers.desks()
  if (desk === undefined) return
  for (const [owner, since] of state.dead) {
    if (context.clock.now() - since < ports.reapAfterMs) continue
    state.dead.delete(owner)
    const question: ReapOwners = { type: 'reap-owners', owners: [owner] }
    context.pipe(context.ask(desk, question, REAP_MS), settled => ({ type: 'reaped', owner, settled }))
  }
}

export function answerLive(state: DispatcherState, question: AskLive, context: Context<DispatcherMessage>): void {
  const { replyTo } = context
  const ask = (desk: Ref<DeskMessage>) => context.ask(desk, question, LIVE_MS).catch(() => NOTHING_LIVE)
  // It is only looked at: a worker that does not answer in time is not shown.
  void Promise.all(state.workers.desks().map(ask)).then(lists => replyTo?.tell(mergeLive(lists, question.most)))
}
