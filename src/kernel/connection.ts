import { type ErrorData, toErrorData } from '../errors.ts'
import type { StopReason } from './actor.ts'
import { Ask } from './ask.ts'
import { type Control, parseControl } from './control.ts'
import type { DeadLetterReason } from './dead-letters.ts'
import { type Batch, decodeBatch } from './envelope.ts'
import { linkDown, malformedBatch } from './errors.ts'
import type { Kernel } from './kernel.ts'
import type { Link } from './link.ts'
import { Outbox } from './outbox.ts'
import type { Reference, Watcher } from './reference.ts'
import { FarRef } from './refs.ts'
import type { Scheduler } from './scheduler.ts'

/** One link in use: what leaves by it, what arrives by it, and who watches whom across it. */
export class Connection implements Watcher {
  up = true
  readonly closed: Promise<ErrorData | undefined>
  readonly link: Link
  private readonly kernel: Kernel
  private readonly outbox: Outbox
  /** Watchers on this side, by the address they watch. */
  private readonly watchers = new Map<string, Set<Watcher>>()
  /** What the other side watches here. */
  private readonly observed = new Map<string, Reference>()
  private readonly onDown: () => void
  private readonly resolveClosed: (error: ErrorData | undefined) => void

  constructor(kernel: Kernel, link: Link, scheduler: Scheduler, onDown: () => void) {
    this.onDown = onDown
    this.kernel = kernel
    this.link = link
    this.outbox = new Outbox(link, kernel.codec, scheduler, (target, reply, message, thrown) =>
      this.unsendable(target, reply, message, thrown),
    )
    let resolveClosed: (error: ErrorData | undefined) => void = () => {}
    this.closed = new Promise(resolve => {
      resolveClosed = resolve
    })
    this.resolveClosed = resolveClosed
    link.onMessage((bytes, attachments) => this.receive(bytes, attachments))
    link.onClose(error => this.down(error ?? linkDown(link.peer)))
  }

  send(to: FarRef, message: unknown, replyTo: Reference | undefined): void {
    const direct = to.node === this.link.peer
    if (replyTo instanceof Ask) {
      replyTo.via = this
    }
    if (direct && replyTo === undefined) this.outbox.add(to.id, 0, message)
    else if (direct && replyTo instanceof Ask) this.outbox.add(to.id, replyTo.register(), message)
    else this.sendControl({ type: 'forward', to, replyTo, message })
  }

  sendUndelivered(question: string, address: string, reason: DeadLetterReason, cause?: ErrorData): void {
    this.sendControl({ type: 'undelivered', question, address, reason, cause })
  }

  watch(address: string, watcher: Watcher): void {
    const watchers = this.watchers.get(address)
    if (watchers !== undefined) return void watchers.add(watcher)
    this.watchers.set(address, new Set([watcher]))
    this.sendControl({ type: 'watch', address })
  }

  unwatch(address: string, watcher: Watcher): void {
    const watchers = this.watchers.get(address)
    if (watchers === undefined || !watchers.delete(watcher) || watchers.size > 0) return
    this.watchers.delete(address)
    this.sendControl({ type: 'unwatch', address })
  }

  /** Something here that the other side watches is gone. */
  terminated(address: string, reason: StopReason): void {
    this.observed.delete(address)
    this.sendControl({ type: 'terminated', address, reason })
  }

  /** Sends what is still waiting, unless the link is down already, and takes the link down. */
  close(error?: ErrorData): void {
    if (!this.up) return
    if (error === undefined) this.outbox.flush()
    this.link.close()
    this.down(error)
  }

  private down(error: ErrorData | undefined): void {
    if (!this.up) return
    this.up = false
    this.onDown()
    const { kernel, link } = this
    const reason = error === undefined || error.tag === 'link-down' ? error : linkDown(link.peer, error)
    const told = reason ?? linkDown(link.peer)
    for (const ask of kernel.questions.via(this)) ask.linkDown(told)
    for (const target of this.observed.values()) target.removeWatcher(this)
    this.observed.clear()
    for (const [address, watchers] of this.watchers)
      for (const watcher of watchers) watcher.terminated(address, { type: 'link-down', error: told })
    this.watchers.clear()
    this.resolveClosed(error)
  }

  private receive(bytes: Uint8Array, attachments: ArrayBuffer[]): void {
    this.outbox.beginTurn()
    let batch: Batch | undefined
    let messages: unknown[]
    try {
      batch = decodeBatch(bytes)
      messages = this.unpack(batch, attachments)
    } catch (thrown) {
      this.undecodable(batch, toErrorData(thrown))
      return
    }
    const { count, columns } = batch
    let id = 0
    let target: Reference | undefined
    for (let index = 0; index < count; index += 1) {
      // Neighbours mostly go to the same actor.
      const next = columns[1 + index] ?? 0
      if (next !== id) target = this.kernel.find(next)
      id = next
      const reply = columns[1 + count + index] ?? 0
      if (target !== undefined && reply === 0) target.tell(messages[index])
      else this.deliver(id, target, reply, messages[index])
    }
  }

  private unpack(batch: Batch, attachments: ArrayBuffer[]): unknown[] {
    const messages = this.kernel.codec.unpack(batch.payload, attachments)
    if (!Array.isArray(messages) || messages.length !== batch.count)
      throw malformedBatch('its messages do not fit its columns')
    for (let index = 0; index < batch.count; index += 1)
      if (batch.columns[1 + index] === 0) parseControl(messages[index])
    return messages
  }

  /** Counts the whole batch, and lets those that asked know: nothing of it was delivered. */
  private undecodable(batch: Batch | undefined, error: ErrorData): void {
    const { kernel, link } = this
    kernel.deadLetter({ address: link.peer, reason: 'undecodable', error }, batch?.count ?? 1)
    for (const reply of batch?.columns.subarray(1 + batch.count) ?? [])
      if (reply !== 0) this.replyRef(reply).undelivered(kernel.node, 'undecodable', error)
  }

  private deliver(id: number, target: Reference | undefined, reply: number, message: unknown): void {
    if (id === 0) this.control(message as Control)
    else if (target === undefined) this.deliverToNobody(id, reply, message)
    else target.ask(message, this.replyRef(reply))
  }

  private deliverToNobody(id: number, reply: number, message: unknown): void {
    const { kernel } = this
    const address = `${kernel.node}/?#${id}`
    const reason = id < 0 ? 'late-reply' : kernel.wasStarted(id) ? 'stopped' : 'unknown'
    kernel.deadLetter({ address, reason, message })
    if (reply !== 0) this.replyRef(reply).undelivered(address, reason)
  }

  private control(control: Control): void {
    const { kernel } = this
    switch (control.type) {
      case 'watch': {
        const target = kernel.resolve(control.address)
        this.observed.set(control.address, target)
        target.addWatcher(this)
        break
      }
      case 'unwatch':
        this.observed.get(control.address)?.removeWatcher(this)
        this.observed.delete(control.address)
        break
      case 'terminated': {
        const watchers = this.watchers.get(control.address)
        this.watchers.delete(control.address)
        for (const watcher of watchers ?? []) watcher.terminated(control.address, control.reason)
        break
      }
      case 'undelivered':
        kernel.resolve(control.question).undelivered(control.address, control.reason, control.cause)
        break
      case 'forward':
        if (control.replyTo === undefined) control.to.tell(control.message)
        else control.to.ask(control.message, control.replyTo)
        break
    }
  }

  private sendControl(control: Control): void {
    if (this.up) this.outbox.add(0, 0, control)
  }

  private replyRef(id: number): FarRef {
    return new FarRef(this.kernel, this.link.peer, id, undefined, this)
  }

  private unsendable(target: number, reply: number, message: unknown, thrown: unknown): void {
    const { kernel, link } = this
    const error = toErrorData(thrown)
    const forwarded = target === 0 ? (message as Control) : undefined
    const to = forwarded?.type === 'forward' ? forwarded.to.address : `${link.peer}/?#${target}`
    kernel.deadLetter({ address: to, reason: 'not-data', message, error })
    if (reply !== 0) kernel.find(reply)?.undelivered(to, 'not-data', error)
    else if (forwarded?.type === 'forward') forwarded.replyTo?.undelivered(to, 'not-data', error)
  }
}
