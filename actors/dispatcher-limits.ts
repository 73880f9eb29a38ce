/** What the dispatcher does about the limits of accounts, on which the workers of all jobs draw: one coordinator keeps them, and the others pass on what theirs ask. */
import { type LimitBook, makeLimitBook } from '../src/cluster/limit-book.ts'
import { type KeeperElection, type LimitPeer, makeKeeperElection } from '../src/cluster/limit-keeper.ts'
import type { LimitSign } from '../src/cluster/limit-signs.ts'
import { PROTOCOL } from '../src/cluster/wire.ts'
import type { Context } from '../src/kernel/actor.ts'
import { parseAddress } from '../src/kernel/address.ts'
import type { Ref } from '../src/kernel/ref.ts'
import type { DispatcherMessage, LimitNote, TakeTokens } from './cluster-messages.ts'
import type { WorkerBook } from './worker-book.ts'

export interface LimitPorts {
  /** This coordinator's. */
  readonly node: string
  /** Tells all coordinators. */
  readonly tell: (sign: LimitSign) => void
  readonly reach: (peer: LimitPeer) => Ref<DispatcherMessage>
  /** It is not heard of any more. */
  readonly drop: (node: string) => void
  /** Hears no more signs. */
  readonly close: () => void
}

/** What a dispatcher knows of accounts. */
export interface AccountLimits {
  /** Of all accounts where this one keeps them; else what the keeper has last said. */
  readonly book: LimitBook
  readonly election: KeeperElection
  /** Coordinators whose workers draw on an account. */
  readonly users: Map<string, Set<string>>
  signedAt: number
}

interface State {
  readonly limits: AccountLimits
  readonly workers: Pick<WorkerBook, 'desks'>
}

type LimitContext = Pick<Context<DispatcherMessage>, 'self' | 'clock' | 'replyTo' | 'ask'>

/** With each second tick. */
const SIGN_MS = 800
/** Less than a worker waits for its answer. */
const PASSED_ON_MS = 800

export function makeAccountLimits(node: string, now: number): AccountLimits {
  return {
    book: makeLimitBook(),
    election: makeKeeperElection(node, now),
    users: new Map(),
    signedAt: Number.NEGATIVE_INFINITY,
  }
}

export function keepLimit(state: State, ports: LimitPorts, message: LimitNote, context: LimitContext): void {
  const { book, election } = state.limits
  const { clock } = context
  switch (message.type) {
    case 'take-tokens':
      take(state, ports, message, context)
      return
    case 'give-tokens-back': {
      const keeper = message.passedOnBy === undefined ? election.keeper() : undefined
      if (keeper === undefined) book.giveBack(message)
      else ports.reach(keeper).tell({ ...message, passedOnBy: ports.node })
      return
    }
    case 'hold-creates':
      book.hold(message.account, clock.now() + message.forMs)
      // Those that have tokens must not use them.
      for (const desk of state.workers.desks()) desk.tell(message)
      if (message.passedOnBy !== undefined) return
      for (const peer of election.peers()) ports.reach(peer).tell({ ...message, passedOnBy: ports.node })
      return
    case 'limit-sign':
      hear(state, ports, message.sign, context)
      return
  }
}

/** Tells the others that it is there, once a second. */
export function signLimits(state: State, ports: LimitPorts, context: LimitContext): void {
  const { limits } = state
  const now = context.clock.now()
  const { rank } = limits.election
  for (const node of limits.election.silent(now)) {
    forget(limits, node)
    ports.drop(node)
  }
  if (rank !== limits.election.rank || now - limits.signedAt >= SIGN_MS) sign(state, ports, context)
}

/** The job is over: the next in line goes on with what is in the book. */
export function endLimits(state: State, ports: LimitPorts, context: LimitContext): void {
  sign(state, ports, context, { isOver: true })
  ports.close()
}

/** What another coordinator has passed on is answered here, whoever that one takes for the keeper: nothing goes round in circles. */
function take(state: State, ports: LimitPorts, message: TakeTokens, context: LimitContext): void {
  const { clock, replyTo } = context
  const { book, election, users } = state.limits
  const { account, passedOnBy } = message
  const keeper = passedOnBy === undefined ? election.keeper() : undefined
  if (keeper !== undefined) {
    const question: TakeTokens = { ...message, passedOnBy: ports.node }
    context.ask(ports.reach(keeper), question, PASSED_ON_MS).then(
      given => replyTo?.tell(given),
      () => {
        // The worker is not answered either, and goes on with an equal share.
      },
    )
    return
  }
  const jobs = (users.get(account) ?? new Set<string>()).add(passedOnBy ?? ports.node)
  users.set(account, jobs)
  const all = [{ node: ports.node, workers: workersOf(state) }, ...election.peers()]
  const workers = new Set(all.flatMap(each => (jobs.has(each.node) ? each.workers : [])))
  replyTo?.tell(book.take(message, Math.max(1, workers.size), clock.now()))
}

function hear(state: State, ports: LimitPorts, heard: LimitSign, context: LimitContext): void {
  const { limits } = state
  const { book, election } = limits
  // Its own comes back, too.
  if (heard.node === ports.node || heard.protocol !== PROTOCOL) return
  const now = context.clock.now()
  const before = election.keeper()
  const isNew = election.hear(heard, now)
  const after = election.keeper()
  // It has kept them while the other was not heard of, or before it heard of anybody.
  if (before === undefined && after !== undefined) sign(state, ports, context, { isKeeper: true })
  if (heard.node === (after ?? before)?.node) book.adopt(heard.accounts, now)
  else if (after === undefined) book.merge(heard.accounts, now)
  if (heard.isOver) forget(limits, heard.node)
  else if (isNew && after === undefined) sign(state, ports, context)
}

function sign(
  state: State,
  ports: LimitPorts,
  { clock, self }: LimitContext,
  { isOver = false, isKeeper = state.limits.election.keeper() === undefined } = {},
): void {
  const { limits } = state
  const now = clock.now()
  limits.signedAt = now
  ports.tell({
    protocol: PROTOCOL,
    node: ports.node,
    dispatcher: self.address,
    rank: limits.election.rank,
    isOver,
    workers: workersOf(state),
    accounts: isKeeper ? limits.book.left(now) : [],
  })
}

function forget({ users }: AccountLimits, node: string): void {
  for (const jobs of users.values()) jobs.delete(node)
}

/** Their nodes. */
function workersOf({ workers }: State): string[] {
  return workers.desks().map(({ address }) => parseAddress(address)?.node ?? address)
}
