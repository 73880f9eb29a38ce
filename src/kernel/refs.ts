import { type ErrorData, toErrorData } from '../errors.ts'
import type { StopReason } from './actor.ts'
import { formatAddress } from './address.ts'
import { Ask } from './ask.ts'
import type { Connection } from './connection.ts'
import type { DeadLetterReason } from './dead-letters.ts'
import { linkDown } from './errors.ts'
import type { Kernel } from './kernel.ts'
import type { Question, Ref, ReplyOf } from './ref.ts'
import { Reference, type Watcher } from './reference.ts'

/** The ref underneath `ref`; one that is not of this package is looked up by its address. */
export function toReference(kernel: Kernel, ref: Ref<never>): Reference {
  return ref instanceof Reference ? ref : kernel.resolve(ref.address)
}

export function askReference<Asked extends Question<unknown>>(
  kernel: Kernel,
  ref: Ref<Asked>,
  question: Asked,
  deadlineMs: number,
): Promise<ReplyOf<Asked>> {
  const target = toReference(kernel, ref)
  const ask = new Ask(kernel, target, deadlineMs)
  try {
    target.ask(question, ask)
  } catch (thrown) {
    ask.undelivered(target.address, 'not-data', toErrorData(thrown))
  }
  return ask.promise as Promise<ReplyOf<Asked>>
}

/** An actor, or an open question, of another node. */
export class FarRef extends Reference {
  readonly node: string
  readonly id: number
  private readonly kernel: Kernel
  private fullAddress: string | undefined
  private connection: Connection | undefined

  constructor(kernel: Kernel, node: string, id: number, address?: string, connection?: Connection) {
    super()
    this.kernel = kernel
    this.node = node
    this.id = id
    this.fullAddress = address
    this.connection = connection
  }

  get address(): string {
    this.fullAddress ??= formatAddress(this.node, '~', this.id)
    return this.fullAddress
  }

  override tell(message: unknown): boolean {
    const connection = this.route()
    if (connection === undefined) {
      this.kernel.deadLetter({ address: this.address, reason: 'link-down', message })
      return false
    }
    connection.send(this, message, undefined)
    return true
  }

  override ask(question: unknown, replyTo: Reference): void {
    const connection = this.route()
    if (connection !== undefined) {
      connection.send(this, question, replyTo)
      return
    }
    this.kernel.deadLetter({ address: this.address, reason: 'link-down', message: question })
    if (replyTo instanceof Ask) replyTo.linkDown(linkDown(this.node))
    else replyTo.undelivered(this.address, 'link-down')
  }

  override addWatcher(watcher: Watcher): void {
    const connection = this.route()
    if (connection !== undefined) connection.watch(this.address, watcher)
    else watcher.terminated(this.address, { type: 'link-down', error: linkDown(this.node) })
  }

  override removeWatcher(watcher: Watcher): void {
    this.route()?.unwatch(this.address, watcher)
  }

  override undelivered(address: string, reason: DeadLetterReason, cause?: ErrorData): void {
    this.route()?.sendUndelivered(this.address, address, reason, cause)
  }

  private route(): Connection | undefined {
    if (this.connection?.up) return this.connection
    this.connection = this.kernel.route(this.node)
    return this.connection
  }
}

/** An address of this node where nobody is. */
export class LostRef extends Reference {
  readonly address: string
  private readonly kernel: Kernel
  private readonly reason: 'stopped' | 'unknown'

  constructor(kernel: Kernel, address: string, reason: 'stopped' | 'unknown') {
    super()
    this.kernel = kernel
    this.address = address
    this.reason = reason
  }

  override tell(message: unknown): boolean {
    this.kernel.deadLetter({ address: this.address, reason: this.reason, message })
    return false
  }

  override ask(question: unknown, replyTo: Reference): void {
    this.tell(question)
    replyTo.undelivered(this.address, this.reason)
  }

  override addWatcher(watcher: Watcher): void {
    const gone: StopReason = { type: this.reason }
    watcher.terminated(this.address, gone)
  }

  override removeWatcher(): void {}
}
