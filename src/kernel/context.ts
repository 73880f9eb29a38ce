import type { CancelTimer, Clock } from '../clock.ts'
import { toErrorData } from '../errors.ts'
import type { Actor, Context, Settled } from './actor.ts'
import type { Cell } from './cell.ts'
import type { Question, Ref, ReplyOf } from './ref.ts'
import { askReference, toReference } from './refs.ts'
import { spawnChild } from './spawn.ts'

/** An actor's hands: what it may do while it handles a message, and may keep for later. */
export class ActorContext implements Context<unknown> {
  private readonly cell: Cell

  constructor(cell: Cell) {
    this.cell = cell
  }

  get self(): Ref<unknown> {
    return this.cell
  }

  get clock(): Clock {
    return this.cell.kernel.clock
  }

  random(): number {
    return this.cell.kernel.random()
  }

  reply<Asked>(_question: Asked, answer: ReplyOf<Asked>): void {
    this.cell.replyTo?.tell(answer)
  }

  get replyTo(): Ref<unknown> | undefined {
    this.cell.replyTaken = true
    return this.cell.replyTo
  }

  spawn<ChildState, ChildMessage>(actor: Actor<ChildState, ChildMessage>, name?: string): Ref<ChildMessage> {
    return spawnChild(this.cell, actor, name)
  }

  stop(child?: Ref<never>): void {
    const target = child === undefined ? this.cell : toReference(this.cell.kernel, child)
    if (target === this.cell) {
      this.cell.stop({ type: 'stopped' })
      return
    }
    for (const own of this.cell.ties?.children.values() ?? []) if (own === target) own.stop({ type: 'stopped' })
  }

  watch(other: Ref<never>): void {
    const target = toReference(this.cell.kernel, other)
    if (this.cell.ties?.watching.has(target.address) === true) return
    this.cell.tied.watching.set(target.address, target)
    target.addWatcher(this.cell)
  }

  unwatch(other: Ref<never>): void {
    const target = this.cell.ties?.watching.get(other.address)
    if (target === undefined) return
    this.cell.tied.watching.delete(other.address)
    target.removeWatcher(this.cell)
  }

  ask<Asked extends Question<unknown>>(
    ref: Ref<NoInfer<Asked>>,
    question: Asked,
    deadlineMs: number,
  ): Promise<ReplyOf<Asked>> {
    return askReference(this.cell.kernel, ref, question, deadlineMs)
  }

  pipe<Value>(promise: Promise<Value>, toMessage: (settled: Settled<Value>) => unknown): void {
    const deliver = (settled: Settled<Value>) => {
      try {
        this.cell.deliverOwn(toMessage(settled))
      } catch (thrown) {
        this.cell.fail(toErrorData(thrown))
      }
    }
    promise.then(
      value => deliver({ ok: true, value }),
      thrown => deliver({ ok: false, error: toErrorData(thrown) }),
    )
  }

  after(delayMs: number, message: unknown): CancelTimer {
    const { cell } = this
    if (!cell.open) return () => {}
    const stopTimer = cell.kernel.clock.after(delayMs, () => {
      cell.tied.timers.delete(cancel)
      cell.deliverOwn(message)
    })
    const cancel = () => {
      stopTimer()
      cell.tied.timers.delete(cancel)
    }
    cell.tied.timers.add(cancel)
    return cancel
  }
}
