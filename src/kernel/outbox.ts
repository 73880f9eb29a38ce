import type { Codec } from './codec.ts'
import { encodeBatch, MAX_BATCH } from './envelope.ts'
import type { Link } from './link.ts'
import { moveBinaries } from './moved.ts'
import type { Scheduler } from './scheduler.ts'

/** Hears of an envelope that cannot be packed. */
export type OnUnsendable = (target: number, reply: number, message: unknown, thrown: unknown) => void

/**
 * Envelopes on their way out. The first of a turn of the event loop leaves at once, so that a lone question does not wait;
 * the rest leaves together after the turn's input and output, or when there are 512.
 */
export class Outbox {
  private readonly link: Link
  private readonly codec: Codec
  private readonly scheduler: Scheduler
  private readonly onUnsendable: OnUnsendable
  private readonly targets = new Int32Array(MAX_BATCH)
  private readonly replies = new Int32Array(MAX_BATCH)
  private messages: unknown[] = []
  private first = true
  private flushWanted = false

  constructor(link: Link, codec: Codec, scheduler: Scheduler, onUnsendable: OnUnsendable) {
    this.link = link
    this.codec = codec
    this.scheduler = scheduler
    this.onUnsendable = onUnsendable
  }

  add(target: number, reply: number, message: unknown): void {
    const index = this.messages.length
    this.targets[index] = target
    this.replies[index] = reply
    this.messages.push(message)
    if (this.first) {
      this.first = false
      this.flush()
    } else if (index + 1 === MAX_BATCH) this.flush()
    else if (!this.flushWanted) {
      this.flushWanted = true
      this.scheduler.macrotask(this.endTurn)
    }
  }

  flush(): void {
    const { messages, targets, replies } = this
    if (messages.length === 0) return
    this.messages = []
    const attachments: ArrayBuffer[] = []
    let payload: Uint8Array
    try {
      for (let index = 0; index < messages.length; index += 1)
        messages[index] = moveBinaries(messages[index], attachments)
      payload = this.codec.pack(messages)
    } catch {
      // One of them cannot be packed: the next lines find out which, and send the others.
      this.sendPackable(messages, attachments)
      return
    }
    this.link.post(encodeBatch(messages.length, targets, replies, payload), attachments)
  }

  private sendPackable(messages: unknown[], attachments: ArrayBuffer[]): void {
    const good: unknown[] = []
    for (const [index, message] of messages.entries()) {
      const target = this.targets[index] ?? 0
      const reply = this.replies[index] ?? 0
      try {
        this.codec.pack(message)
      } catch (thrown) {
        this.onUnsendable(target, reply, message, thrown)
        continue
      }
      this.targets[good.length] = target
      this.replies[good.length] = reply
      good.push(message)
    }
    if (good.length === 0) return
    const payload = this.codec.pack(good)
    const { targets, replies } = this
    this.link.post(encodeBatch(good.length, targets, replies, payload), attachments)
  }

  /**
   * Whatever arrives begins a turn: the next envelope leaves at once. Only a burst needs an immediate to end its turn, which
   * saves a lone round trip one on each side, a fifth of its time.
   */
  beginTurn(): void {
    this.first = true
  }

  private readonly endTurn = (): void => {
    this.first = true
    this.flushWanted = false
    this.flush()
  }
}
