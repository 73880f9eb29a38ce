import type { SupervisorMessage } from '../../actors/messages.ts'
import type { GroupPorts } from '../../actors/rollout-group.ts'
import { shard } from '../../actors/shard.ts'
import type { Shards } from '../../src/assembly/engine.ts'
import type { ErrorData } from '../../src/errors.ts'
import type { Actor } from '../../src/kernel/actor.ts'
import type { Connection, Link } from '../../src/kernel/link.ts'
import type { Ref } from '../../src/kernel/ref.ts'
import { type ActorSystem, makeSystem, type SystemOptions } from '../../src/kernel/system.ts'
import { threadHung, threadLost, threadStuck } from '../../src/threads/errors.ts'
import type { CloseInbox, ThreadUp, WardenMessage } from '../../src/threads/messages.ts'
import { makeSimulatedLink, type SimulatedLink } from './link.ts'
import { SimulatedNode } from './node.ts'
import type { Scenario, ThreadFault } from './scenario.ts'
import type { World } from './world.ts'

/** Without a sign of life for that long a thread counts as hung. */
const HANG_MS = 10_000

export interface ThreadsPorts {
  readonly world: World
  readonly scenario: Scenario
  readonly main: SimulatedNode
  /** The main thread's. */
  readonly system: ActorSystem
  readonly supervisor: Ref<SupervisorMessage>
  readonly groupPorts: (node: SimulatedNode, system: ActorSystem) => GroupPorts
  readonly watchLink: (link: Link) => Link
  readonly observed: Pick<SystemOptions, 'onFailure' | 'onDeadLetter'>
}

interface Thread {
  readonly node: SimulatedNode
  readonly link: SimulatedLink
  readonly connection: Connection
  warden: Ref<WardenMessage> | undefined
}

/** What the pool of threads does, without threads: shards on nodes of their own, which die, hang, stall and are replaced. */
export class SimulatedThreads implements Shards {
  readonly #ports: ThreadsPorts
  readonly #inbox: Ref<ThreadUp | CloseInbox>
  readonly #threads = new Map<string, Thread>()
  #started = 0
  #losses = 0
  #onEmpty: (() => void) | undefined
  #isStopping = false

  constructor(ports: ThreadsPorts) {
    this.#ports = ports
    this.#inbox = ports.system.spawn(makeInbox(message => this.#up(message)))
    for (let place = 0; place < ports.scenario.threads; place += 1) this.#start()
    for (const fault of ports.scenario.faults)
      ports.world.at(fault.atMs, `fault: ${fault.type}`, () => this.#strike(fault))
  }

  async close(deadlineMs: number): Promise<void> {
    const { main } = this.#ports
    this.#isStopping = true
    for (const { warden } of this.#threads.values()) warden?.tell({ type: 'stop-thread' })
    if (this.#threads.size > 0)
      await new Promise<void>(resolve => {
        const cancel = main.clock.after(deadlineMs, resolve)
        this.#onEmpty = () => {
          cancel()
          resolve()
        }
      })
    for (const thread of [...this.#threads.values()]) this.#ended(thread, threadStuck(thread.node.name, deadlineMs))
    this.#inbox.tell({ type: 'close-inbox' })
  }

  #start(): void {
    const { world, main, scenario, system, watchLink } = this.#ports
    this.#started += 1
    const node = new SimulatedNode(world, `thread-${this.#started}`, scenario.pace)
    const link = makeSimulatedLink({
      main,
      thread: node,
      delayMs: () => world.duration(scenario.linkMs),
      onLost: () => this.#closed(thread),
    })
    const thread: Thread = { node, link, connection: system.connect(watchLink(link.near)), warden: undefined }
    this.#threads.set(node.name, thread)
    node.at(world.duration(50), 'starts', () => this.#host(thread))
  }

  /** On the thread's own node, what its worker module does. */
  #host({ node, link }: Thread): void {
    const { scenario, observed, groupPorts, watchLink } = this.#ports
    const { name, clock, scheduler, random } = node
    const system = makeSystem({ node: name, clock, scheduler, random, encodeLocal: scenario.encodes, ...observed })
    const connection = system.connect(watchLink(link.far))
    let stop = () => {}
    const stopWanted = new Promise<void>(resolve => {
      stop = resolve
    })
    const warden = system.spawn(makeWarden(stop), 'warden')
    const root = system.spawn(shard(groupPorts(node, system)))
    system.ref<ThreadUp>(this.#inbox.address).tell({ type: 'thread-up', node: name, root, warden })
    void Promise.race([stopWanted, system.terminated(root), connection.closed]).then(() => system.stop())
  }

  #up({ node, root, warden }: ThreadUp): void {
    const { supervisor, system } = this.#ports
    const thread = this.#threads.get(node)
    if (thread === undefined) return
    thread.warden = warden
    if (this.#isStopping) warden.tell({ type: 'stop-thread' })
    else supervisor.tell({ type: 'shard-up', node, root: system.ref(root.address) })
  }

  #closed(thread: Thread): void {
    const { node } = thread
    if (this.#isStopping && !node.isLost && node.timers > 0)
      this.#ports.world.violate(`${node.name} has stopped, and ${node.timers} timers are left`)
    this.#ended(thread, threadLost(node.name, new Error('it was lost')))
  }

  /** Its link is down, and no code of it runs any more. */
  #ended(thread: Thread, error: ErrorData): void {
    const { world, main, scenario, supervisor } = this.#ports
    const { node, connection } = thread
    if (!this.#threads.delete(node.name)) return
    node.lose()
    connection.close(error)
    if (this.#isStopping) {
      if (this.#threads.size === 0) this.#onEmpty?.()
      return
    }
    this.#losses += 1
    const isLast = this.#losses >= scenario.lastThread
    if (!isLast) main.at(world.duration(500), 'starts a thread', () => this.#isStopping || this.#start())
    supervisor.tell({
      type: 'shard-down',
      node: node.name,
      error: isLast ? { ...error, tag: 'threads-failing' } : error,
    })
  }

  #strike({ type, forMs }: ThreadFault): void {
    const { world, main } = this.#ports
    const running = [...this.#threads.values()].filter(({ node }) => !node.isLost)
    const thread = running[world.whole(0, running.length - 1)]
    if (thread === undefined) return
    const { node, link } = thread
    if (type === 'stall') (world.chance(0.2) ? main : node).stall(forMs)
    else if (type === 'hang') {
      node.stall(Number.POSITIVE_INFINITY)
      main.at(HANG_MS, `misses ${node.name}`, () => this.#ended(thread, threadHung(node.name, HANG_MS)))
    } else {
      // What it had sent mostly arrives before the end of its link is seen, and at times some of it is lost with it.
      const kept = world.chance(0.7) ? link.arriving : world.whole(0, link.arriving)
      node.lose()
      link.break(kept)
    }
  }
}

function makeInbox(up: (message: ThreadUp) => void): Actor<undefined, ThreadUp | CloseInbox> {
  return {
    name: 'thread-pool',
    initial: () => undefined,
    receive(state, message, context) {
      if (message.type === 'thread-up') up(message)
      else context.stop()
      return state
    },
  }
}

function makeWarden(stop: () => void): Actor<undefined, WardenMessage> {
  return {
    name: 'warden',
    initial: () => undefined,
    receive(state, message, context) {
      if (message.type === 'pulse') context.reply(message, true)
      else stop()
      return state
    },
  }
}
