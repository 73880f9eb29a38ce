import { type Clock, systemClock } from '../clock.ts'
import type { Actor, StopReason } from './actor.ts'
import { parseAddress } from './address.ts'
import { Cell } from './cell.ts'
import { Codec } from './codec.ts'
import { Connection } from './connection.ts'
import { type DeadLetter, DeadLetters } from './dead-letters.ts'
import { Deadlines } from './deadlines.ts'
import { alreadyConnected } from './errors.ts'
import type { Failure, Kernel } from './kernel.ts'
import type { Link, Connection as LinkConnection } from './link.ts'
import { Questions } from './questions.ts'
import type { Question, Ref, ReplyOf } from './ref.ts'
import type { Reference } from './reference.ts'
import { askReference, FarRef, LostRef, toReference } from './refs.ts'
import { RunQueue } from './run-queue.ts'
import { nodeScheduler, type Scheduler } from './scheduler.ts'
import { checkName, spawnChild } from './spawn.ts'

const DEFAULT_STOP_DEADLINE_MS = 5_000

/** What an actor system is called and goes by. */
export interface SystemOptions {
  /** The name of this node, unique among the nodes it is linked with and never used again by another. */
  readonly node: string
  readonly clock?: Clock
  readonly random?: () => number
  readonly scheduler?: Scheduler
  /** Local messages take the codec too, as if they crossed a link: for tests. Binaries are copied then, not moved. */
  readonly encodeLocal?: boolean
  readonly onDeadLetter?: (letter: DeadLetter) => void
  /** Hears of each failure of an actor and of what its parent did about it. */
  readonly onFailure?: (failure: Failure) => void
  /** Time each `onStop` has. Default 5,000. */
  readonly stopDeadlineMs?: number
}

/** The actors of one thread. Several systems can live in one process. */
export interface ActorSystem {
  readonly node: string
  readonly clock: Clock
  /** A number in [0, 1), from the system's source. */
  random(): number
  /** Starts an actor at the top of the tree, where the default supervision applies and an escalation stops the actor. */
  spawn<State, Message>(actor: Actor<State, Message>, name?: string): Ref<Message>
  /** Rejects with a `TroupeError`: `ask-timeout`, `dead-letter` or `link-down`, whose address is the actor's. */
  ask<Asked extends Question<unknown>>(
    ref: Ref<NoInfer<Asked>>,
    question: Asked,
    deadlineMs: number,
  ): Promise<ReplyOf<Asked>>
  /** Resolves when the actor is gone, at once if it is unknown. */
  terminated(ref: Ref<never>): Promise<StopReason>
  /** The ref of an address, near or far. An address nobody has gives a ref whose messages are dead letters. */
  ref<Message>(address: string): Ref<Message>
  /** Takes a link to another node into use. Throws `already-connected` for a peer that has one. */
  connect(link: Link): LinkConnection
  deadLetters(): { total: number; byReason: Record<string, number> }
  /** Stops the top-level actors in reverse order of their start, children first, then closes the links. */
  stop(): Promise<void>
}

/** Starts a system without any actor in it. Throws for a name that cannot be part of an address. */
export function makeSystem(options: SystemOptions): ActorSystem {
  const node = checkName(options.node)
  const clock = options.clock ?? systemClock
  const scheduler = options.scheduler ?? nodeScheduler
  const letters = new DeadLetters(options.onDeadLetter)
  const connections = new Map<string, Connection>()
  const actors = new Map<number, Reference>()
  const questions = new Questions()
  let lastActorId = 0

  const kernel: Kernel = {
    node,
    clock,
    random: options.random ?? Math.random,
    runQueue: new RunQueue(scheduler, clock),
    deadlines: new Deadlines(clock, scheduler),
    codec: new Codec(address => kernel.resolve(address)),
    encodeLocal: options.encodeLocal ?? false,
    stopDeadlineMs: options.stopDeadlineMs ?? DEFAULT_STOP_DEADLINE_MS,
    actors,
    questions,
    deadLetter: (letter, count) => letters.add(letter, count),
    failed: failure => options.onFailure?.(failure),
    nextActorId() {
      lastActorId += 1
      return lastActorId
    },
    wasStarted: id => id > 0 && id <= lastActorId,
    route(peer) {
      const direct = connections.get(peer)
      if (direct !== undefined) return direct
      for (const connection of connections.values()) if (connection.link.uplink) return connection
      return undefined
    },
    find: id => (id > 0 ? actors.get(id) : questions.get(id)),
    resolve(address) {
      const parsed = parseAddress(address)
      if (parsed === undefined) return new LostRef(kernel, address, 'unknown')
      if (parsed.node !== node) return new FarRef(kernel, parsed.node, parsed.incarnation, address)
      const lost = kernel.wasStarted(parsed.incarnation) ? 'stopped' : 'unknown'
      return kernel.find(parsed.incarnation) ?? new LostRef(kernel, address, lost)
    },
  }

  const root = new Cell(kernel, { name: 'root', initial: () => undefined, receive: () => undefined }, '', undefined)
  root.start()

  return {
    node,
    clock,
    random: kernel.random,
    spawn: (actor, name) => spawnChild(root, actor, name),
    ask: (ref, question, deadlineMs) => askReference(kernel, ref, question, deadlineMs),
    terminated: ref =>
      new Promise(resolve =>
        toReference(kernel, ref).addWatcher({ terminated: (_address, reason) => resolve(reason) }),
      ),
    ref: address => kernel.resolve(address),
    connect(link) {
      if (connections.has(link.peer)) throw alreadyConnected(link.peer)
      const connection = new Connection(kernel, link, scheduler, () => connections.delete(link.peer))
      connections.set(link.peer, connection)
      return connection
    },
    deadLetters: () => letters.counts(),
    async stop() {
      await new Promise<void>(resolve => root.stop({ type: 'stopped' }, resolve))
      for (const connection of connections.values()) connection.close()
      kernel.deadlines.stop()
    },
  }
}
