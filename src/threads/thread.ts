import { MessageChannel } from 'node:worker_threads'
import type { Piscina } from 'piscina'
import type { CancelTimer } from '../clock.ts'
import { type ErrorData, fromErrorData, hasTag } from '../errors.ts'
import type { Connection } from '../kernel/link.ts'
import type { Ref } from '../kernel/ref.ts'
import type { ActorSystem } from '../kernel/system.ts'
import { portClosed, shardEnded, threadHung, threadLost } from './errors.ts'
import type { Pulse, ThreadEnd, ThreadTask, ThreadUp, WardenMessage } from './messages.ts'
import { makePortLink } from './port-link.ts'

/** Time a thread has to load its modules and start its shard. */
const START_MS = 60_000
/** The end of a thread and the last messages from it come by different ways; longer than this and the other is not coming. */
const REASON_MS = 1_000

const pulse: Pulse = { type: 'pulse' }

interface ThreadPorts {
  readonly piscina: Piscina
  readonly system: ActorSystem
  readonly node: string
  readonly entry: URL
  readonly data: unknown
  readonly inbox: Ref<never>
  readonly pulseMs: number
  readonly hangMs: number
  /** Called once, after the link is down. */
  onEnd(error: ErrorData): void
}

/** One shard at work in a thread of the pool, from its start until its link is down. */
export class HostedThread {
  readonly node: string
  /** Resolves when the link is down and the thread runs this shard no more. */
  readonly ended: Promise<void>
  private readonly ports: ThreadPorts
  private readonly connection: Connection
  /** Of this task alone: aborting destroys this thread and no other, because no two tasks share one. */
  private readonly controller = new AbortController()
  private warden: Ref<WardenMessage> | undefined
  private stopWanted = false
  private over = false
  private portIsLost = false
  private reason: ErrorData | undefined
  private cancelTimer: CancelTimer
  private resolveEnded: () => void = () => {}

  constructor(ports: ThreadPorts) {
    this.ports = ports
    const { node, system, piscina } = ports
    this.node = node
    this.ended = new Promise(resolve => {
      this.resolveEnded = resolve
    })
    const { port1, port2 } = new MessageChannel()
    this.connection = system.connect(makePortLink(port1, { peer: node, onLost: () => this.portLost() }))
    const task: ThreadTask = {
      node,
      parent: system.node,
      port: port2,
      entry: ports.entry.href,
      data: ports.data,
      inbox: ports.inbox.address,
    }
    this.cancelTimer = system.clock.after(START_MS, () => this.destroy(threadHung(node, START_MS)))
    // Both ways out are handled: a rejection without a handler would take the process down.
    piscina.run(task, { transferList: [port2], signal: this.controller.signal }).then(
      (end: ThreadEnd) =>
        this.taskEnded(
          end.type === 'failed' ? threadLost(node, fromErrorData(end.error)) : threadLost(node, shardEnded(node)),
        ),
      thrown => this.taskEnded(threadLost(node, thrown)),
    )
  }

  up(message: ThreadUp): void {
    this.warden = message.warden
    if (this.stopWanted) this.stop()
    else this.schedulePulse()
  }

  /** Asks the shard to stop in order; `ended` says when it has. */
  stop(): void {
    this.stopWanted = true
    this.warden?.tell({ type: 'stop-thread' })
  }

  /** Destroys the thread: no code in it runs any more, so this is for one that is stuck. */
  destroy(reason: ErrorData): void {
    if (this.over) return
    this.controller.abort()
    this.end(reason)
  }

  private schedulePulse(): void {
    this.cancelTimer()
    if (!this.over) this.cancelTimer = this.ports.system.clock.after(this.ports.pulseMs, () => void this.takePulse(1))
  }

  /**
   * Asks twice, half of `hangMs` each: when it is this thread that was blocked, the first question times out with its answer
   * already waiting in the port.
   */
  private async takePulse(attempt: 1 | 2): Promise<void> {
    const { system, node, hangMs } = this.ports
    if (this.warden === undefined || this.over || this.stopWanted) return
    try {
      await system.ask(this.warden, pulse, hangMs / 2)
      this.schedulePulse()
    } catch (thrown) {
      if (!hasTag(thrown, 'ask-timeout')) return
      if (attempt === 1) await this.takePulse(2)
      else this.destroy(threadHung(node, hangMs))
    }
  }

  private taskEnded(reason: ErrorData): void {
    this.reason = reason
    this.endWhenBothAreThere(reason)
  }

  private portLost(): void {
    this.portIsLost = true
    this.endWhenBothAreThere(threadLost(this.node, portClosed(this.node)))
  }

  /** Ends once the reason is known and the last message has come; after a second without the other. */
  private endWhenBothAreThere(reasonUntilThen: ErrorData): void {
    if (this.over) return
    this.cancelTimer()
    if (this.portIsLost && this.reason !== undefined) this.end(this.reason)
    else this.cancelTimer = this.ports.system.clock.after(REASON_MS, () => this.destroy(reasonUntilThen))
  }

  private end(error: ErrorData): void {
    if (this.over) return
    this.over = true
    this.cancelTimer()
    this.connection.close(error)
    this.resolveEnded()
    this.ports.onEnd(error)
  }
}
