import type { CancelTimer } from '../clock.ts'
import { type ErrorData, toErrorData } from '../errors.ts'
import type { Actor, Signal, StopReason } from './actor.ts'
import { formatAddress } from './address.ts'
import { ActorContext } from './context.ts'
import type { DeadLetterReason } from './dead-letters.ts'
import type { Kernel } from './kernel.ts'
import { Asked, Mailbox } from './mailbox.ts'
import { Reference, type Watcher } from './reference.ts'
import type { Runnable } from './run-queue.ts'
import { runOnStop, stopChildren } from './stopping.ts'
import { defaultSupervision } from './supervision.ts'
import { Ties } from './ties.ts'

const DEFAULT_CAPACITY = 10_000

/** `restarting` lasts from the failure until `initial` has run again: children stop, then the back-off passes. */
export type Phase = 'running' | 'restarting' | 'stopping' | 'stopped'

/** One actor at work: its mailbox, state, children and place in the tree. It is its own ref. */
export class Cell extends Reference implements Runnable, Watcher {
  readonly kernel: Kernel
  readonly actor: Actor<unknown, unknown>
  readonly path: string
  readonly address: string
  readonly id: number
  readonly parent: Cell | undefined
  readonly mailbox: Mailbox
  readonly context: ActorContext
  /** Absent as long as there are none; `tied` makes them. */
  ties: Ties | undefined
  phase: Phase = 'running'
  /** Undefined until `initial` has returned: there is nothing to resume or to stop. The last one lasts through a back-off. */
  state: { value: unknown } | undefined
  stopReason: StopReason = { type: 'stopped' }
  /** Where the answer to the entry being handled goes. */
  replyTo: Reference | undefined
  /** The actor has looked at `replyTo`, so it may answer later even if it throws now. */
  replyTaken = false
  private queued = false
  private executing = false
  private stopWanted: StopReason | undefined
  private failureWanted: ErrorData | undefined
  private childNumber = 0
  private cancelBackoff: CancelTimer | undefined

  constructor(kernel: Kernel, actor: Actor<unknown, unknown>, path: string, parent: Cell | undefined) {
    super()
    this.kernel = kernel
    this.actor = actor
    this.path = path
    this.parent = parent
    this.id = kernel.nextActorId()
    this.address = formatAddress(kernel.node, path, this.id)
    this.mailbox = new Mailbox(actor.capacity ?? DEFAULT_CAPACITY)
    this.context = new ActorContext(this)
    kernel.actors.set(this.id, this)
  }

  get tied(): Ties {
    this.ties ??= new Ties()
    return this.ties
  }

  override tell(message: unknown): boolean {
    if (this.kernel.encodeLocal) return this.tellEncoded(message)
    if (this.phase === 'running' || this.phase === 'restarting') {
      if (this.mailbox.offer(message)) {
        if (!this.queued) this.wake()
        return true
      }
    }
    return this.refuse(message)
  }

  override ask(question: unknown, replyTo: Reference): void {
    const copy = this.kernel.encodeLocal ? this.kernel.codec.copy(question) : question
    const entry = new Asked(copy, replyTo)
    if (!this.open || !this.mailbox.offer(entry)) this.refuse(entry)
    else if (!this.queued) this.wake()
  }

  /** Takes what the actor asked for itself, past the bound. */
  deliverOwn(message: unknown): void {
    if (!this.open) this.refuse(message)
    else this.mailbox.force(message)
    if (!this.queued) this.wake()
  }

  /** Runs `initial`, at the start and after each back-off. */
  start(): void {
    this.phase = 'running'
    this.state = undefined
    this.executing = true
    try {
      this.state = { value: this.actor.initial(this.context) }
    } catch (thrown) {
      this.failureWanted = toErrorData(thrown)
    }
    this.executing = false
    this.settleWishes()
    if (this.phase === 'running' && !this.queued && !this.mailbox.empty) this.wake()
  }

  run(limit: number): boolean {
    this.executing = true
    for (let handled = 0; handled < limit && this.phase === 'running'; handled += 1) {
      const signal = this.mailbox.takeSignal()
      if (signal === undefined && this.mailbox.messages.size === 0) break
      try {
        if (signal === undefined) this.receiveNext()
        else if (this.actor.onSignal !== undefined && this.state !== undefined)
          this.state.value = this.actor.onSignal(this.state.value, signal, this.context)
      } catch (thrown) {
        this.failReply(thrown)
        this.failureWanted = toErrorData(thrown)
      }
      this.replyTo = undefined
      if (this.failureWanted !== undefined || this.stopWanted !== undefined) {
        this.executing = false
        this.settleWishes()
        this.executing = true
      }
    }
    this.executing = false
    this.queued = this.phase === 'running' && !this.mailbox.empty
    return this.queued
  }

  /** Stops, children first; at the end of the entry being handled if there is one. */
  stop(reason: StopReason, done?: () => void): void {
    if (this.phase === 'stopped') done?.()
    else if (done !== undefined) this.tied.onStopped.push(done)
    if (!this.open) return
    if (this.executing) {
      this.stopWanted ??= reason
      return
    }
    this.phase = 'stopping'
    this.stopReason = reason
    this.cancelTimers()
    this.refuseWaiting()
    stopChildren(this, () => runOnStop(this, () => this.stopped()))
  }

  /** What the parent makes of a failure of this actor. */
  fail(error: ErrorData): void {
    const { kernel, parent } = this
    // The root has nobody to ask: the child whose failure came this far has been stopped, and that is the end of it.
    if (parent === undefined || this.phase !== 'running') return
    if (this.executing) {
      this.failureWanted ??= error
      return
    }
    const supervision = parent.actor.supervision ?? defaultSupervision
    const now = kernel.clock.now()
    const verdict = this.tied.restarts.judge(supervision, error, now, kernel.random(), this.state !== undefined)
    kernel.failed({ address: this.address, error, directive: verdict.directive })
    switch (verdict.directive) {
      case 'resume':
        break
      case 'restart':
        this.restart(verdict.delayMs)
        break
      case 'stop':
        this.stop({ type: 'failed', error })
        parent.signal({ type: 'child-failed', address: this.address, error })
        break
      case 'escalate':
        this.stop({ type: 'failed', error })
        parent.fail(error)
    }
  }

  terminated(address: string, reason: StopReason): void {
    this.ties?.watching.delete(address)
    this.signal({ type: 'terminated', address, reason })
  }

  override addWatcher(watcher: Watcher): void {
    if (this.phase === 'stopped') watcher.terminated(this.address, this.stopReason)
    else this.tied.watchers.add(watcher)
  }

  override removeWatcher(watcher: Watcher): void {
    this.ties?.watchers.delete(watcher)
  }

  nextChildNumber(): number {
    this.childNumber += 1
    return this.childNumber
  }

  get open(): boolean {
    return this.phase === 'running' || this.phase === 'restarting'
  }

  private tellEncoded(message: unknown): boolean {
    let copy: unknown
    try {
      copy = this.kernel.codec.copy(message)
    } catch (thrown) {
      return this.refuse(message, 'not-data', toErrorData(thrown))
    }
    if (!this.open || !this.mailbox.offer(copy)) return this.refuse(copy)
    if (!this.queued) this.wake()
    return true
  }

  private receiveNext(): void {
    const entry = this.mailbox.messages.shift()
    const { state } = this
    if (state === undefined) return
    if (entry instanceof Asked) {
      this.replyTo = entry.replyTo
      this.replyTaken = false
      state.value = this.actor.receive(state.value, entry.question, this.context)
    } else state.value = this.actor.receive(state.value, entry, this.context)
  }

  private failReply(thrown: unknown): void {
    const { replyTo } = this
    if (replyTo === undefined || this.replyTaken) return
    replyTo.undelivered(this.address, 'failed', toErrorData(thrown))
  }

  private wake(): void {
    if (this.phase !== 'running') return
    this.queued = true
    this.kernel.runQueue.add(this)
  }

  signal(signal: Signal): void {
    if (!this.open || this.actor.onSignal === undefined) return
    this.mailbox.addSignal(signal)
    if (!this.queued) this.wake()
  }

  private settleWishes(): void {
    const { failureWanted, stopWanted } = this
    this.failureWanted = undefined
    this.stopWanted = undefined
    if (stopWanted !== undefined) this.stop(stopWanted)
    else if (failureWanted !== undefined) this.fail(failureWanted)
  }

  private restart(delayMs: number): void {
    this.phase = 'restarting'
    this.cancelTimers()
    stopChildren(this, () => {
      if (this.phase !== 'restarting') return
      this.cancelBackoff = this.kernel.clock.after(delayMs, () => this.start())
    })
  }

  private cancelTimers(): void {
    this.cancelBackoff?.()
    if (this.ties === undefined) return
    for (const cancel of this.ties.timers) cancel()
    this.ties.timers.clear()
  }

  private refuseWaiting(): void {
    while (this.mailbox.takeSignal() !== undefined);
    while (this.mailbox.messages.size > 0) this.refuse(this.mailbox.messages.shift(), 'stopped')
  }

  private refuse(entry: unknown, reason = this.reasonToRefuse, error?: ErrorData): false {
    const { address } = this
    const message = entry instanceof Asked ? entry.question : entry
    this.kernel.deadLetter({ address, reason, message, ...(error === undefined ? {} : { error }) })
    if (entry instanceof Asked) entry.replyTo.undelivered(address, reason)
    return false
  }

  private get reasonToRefuse(): DeadLetterReason {
    return this.open ? 'mailbox-full' : 'stopped'
  }

  private stopped(): void {
    this.phase = 'stopped'
    this.kernel.actors.delete(this.id)
    this.parent?.ties?.children.delete(nameOf(this.path))
    if (this.ties === undefined) return
    const { watchers, watching, onStopped } = this.ties
    for (const target of watching.values()) target.removeWatcher(this)
    for (const watcher of watchers) watcher.terminated(this.address, this.stopReason)
    watchers.clear()
    for (const done of onStopped.splice(0)) done()
  }
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}
