/** What the dispatcher does about workers: who comes, who is lost, and what those have left. */
import type { Clock } from '../src/clock.ts'
import type { SeenLease } from '../src/cluster/lease-book.ts'
import type { Context, StopReason } from '../src/kernel/actor.ts'
import type { Ref } from '../src/kernel/ref.ts'
import { type LiveList, mergeLive } from '../src/rollout/live.ts'
import type { DeskMessage, DispatcherMessage, ReapOwners } from './cluster-messages.ts'
import type { DispatcherPorts } from './dispatcher-ports.ts'
import type { DispatcherState } from './dispatcher-state.ts'
import type { AskLive } from './messages.ts'

const LIVE_MS = 800
const REAP_MS = 120_000
/** Some of them lie between two ticks. */
const FIGURES_MS = 900
const NOTHING_LIVE: LiveList = { rollouts: [], phases: {} }

export function welcome(
  state: DispatcherState,
  ports: DispatcherPorts,
  { worker, load, desk }: Extract<DispatcherMessage, { readonly type: 'worker-up' }>,
  context: Context<DispatcherMessage>,
): void {
  const problem = ports.judgeWorker(worker)
  if (problem !== undefined) {
    ports.onTrouble(problem)
    return
  }
  state.workers.add(worker, load, desk, context.clock.now())
  state.toldAt = undefined
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
  const note = state.workers.gone(address, reason.type === 'stopped' ? 'left' : 'lost', context.clock.now())
  if (note === undefined) return
  state.toldAt = undefined
  if (reason.type !== 'stopped' && !state.workers.hasOwner(note.owner)) {
    state.dead.set(note.owner, context.clock.now())
    ports.onDead(note.owner, true)
  }
  ports.onWorkers(state.workers.desks())
}

/**
 * What earlier lives of the coordinator knew of the dead, leases say: an owner that has one and does not come up counts as lost since its lease was written. Where a lease is gone,
 * its owner has given back everything itself.
 */
export function seeLeases(state: DispatcherState, ports: DispatcherPorts, leases: readonly SeenLease[]): void {
  const before = state.leased
  state.leased = new Set(leases.map(({ owner }) => owner))
  for (const owner of before) if (!state.leased.has(owner) && state.dead.delete(owner)) ports.onDead(owner, false)
  for (const { owner, seenAt } of leases) {
    if (state.workers.hasOwner(owner) || state.reaping.has(owner)) continue
    state.dead.set(owner, Math.max(seenAt, state.dead.get(owner) ?? seenAt))
  }
}

/** Whoever works deletes what the dead have left. */
export function reap(state: DispatcherState, ports: DispatcherPorts, context: Context<DispatcherMessage>): void {
  const [desk] = state.workers.desks()
  if (desk === undefined) return
  for (const [owner, since] of state.dead) {
    if (context.clock.now() - since < ports.reapAfterMs) continue
    state.dead.delete(owner)
    state.reaping.add(owner)
    ports.onDead(owner, true)
    const question: ReapOwners = { type: 'reap-owners', owners: [owner] }
    const forget = ports.reaping(owner)
    const asked = context.ask(desk, question, REAP_MS).then(count => {
      forget()
      return count
    })
    context.pipe(asked, settled => ({ type: 'reaped', owner, settled }))
  }
}

/** Not with each sign of life: two hundred workers give as many a second. */
export function tellFigures(state: DispatcherState, ports: DispatcherPorts, clock: Clock): void {
  const now = clock.now()
  if (state.toldAt !== undefined && now - state.toldAt < FIGURES_MS) return
  state.toldAt = now
  const { workers, out } = state
  const { silenceMs, reapAfterMs: redeliverMs, sandboxesOf } = ports
  const each = workers.known({ clock, silentMs: silenceMs / 2, redeliverMs, sandboxesOf })
  const { credits, size } = workers
  ports.onFigures({ workers: size, credits, creditsFree: Math.max(0, credits - out), each })
}

export function answerLive(state: DispatcherState, question: AskLive, context: Context<DispatcherMessage>): void {
  const { replyTo } = context
  const ask = (desk: Ref<DeskMessage>) => context.ask(desk, question, LIVE_MS).catch(() => NOTHING_LIVE)
  // It is only looked at: a worker that does not answer in time is not shown.
  void Promise.all(state.workers.desks().map(ask)).then(lists => replyTo?.tell(mergeLive(lists, question.most)))
}
