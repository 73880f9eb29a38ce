import type { Observable, Subscriber } from 'rxjs'
import type { Group } from '../rollout/group.ts'
import { billTo, type WaitingBytes } from './credits.ts'
import { streamTaken } from './errors.ts'
import { rxjs } from './rxjs.ts'

/**
 * Groups as they end, for one consumer: an Observable, or an AsyncIterable. Nothing is lost when the consumer comes late. Giving
 * up early (unsubscribing, leaving the loop) cancels what makes the groups.
 */
export interface GroupStream extends Observable<Group>, AsyncIterable<Group> {}

/** The writing end. After `complete` or `error`, and once the consumer gave up, what is pushed goes nowhere. */
export interface GroupStreamSource {
  push(group: Group): void
  complete(): void
  error(error: unknown): void
  readonly stream: GroupStream
}

/** What a stream of groups goes by. */
export interface GroupStreamOptions {
  /**
   * Counts a group's bytes from its push until the consumer took it: an iterator by pulling it, a subscriber by returning from
   * `next` (see `processChunks` for one that works on after that).
   */
  readonly waiting?: WaitingBytes
  /** Called once, when the consumer gives up before the end. */
  readonly onCancel?: () => void
}

/** A stream with the hand that feeds it. */
export function makeGroupStream(options: GroupStreamOptions = {}): GroupStreamSource {
  const hub = new GroupHub(options)
  return {
    push: group => hub.push(group),
    complete: () => hub.end({ type: 'completed' }),
    error: error => hub.end({ type: 'failed', error }),
    stream: toStream(hub),
  }
}

type Ending = { readonly type: 'completed' } | { readonly type: 'failed'; readonly error: unknown }
type Pull = { readonly resolve: (result: IteratorResult<Group>) => void; readonly reject: (error: unknown) => void }
type Consumer =
  | { readonly type: 'none' }
  | { readonly type: 'subscriber'; readonly subscriber: Subscriber<Group> }
  | { readonly type: 'iterator'; readonly pulls: Pull[] }
  | { readonly type: 'gone' }

/** The queue between the engine and the one consumer. Bounded by the credits: what is full starts nothing new. */
class GroupHub {
  readonly #options: GroupStreamOptions
  #queue: Group[] = []
  #ending: Ending | undefined
  #consumer: Consumer = { type: 'none' }
  #isDelivering = false

  constructor(options: GroupStreamOptions) {
    this.#options = options
  }

  push(group: Group): void {
    if (this.#ending !== undefined || this.#consumer.type === 'gone') return
    const { waiting } = this.#options
    if (waiting !== undefined) {
      waiting.add(group.bytes)
      billTo(waiting, group)
    }
    this.#queue.push(group)
    this.#deliver()
  }

  end(ending: Ending): void {
    this.#ending ??= ending
    this.#deliver()
  }

  subscribe(subscriber: Subscriber<Group>): (() => void) | undefined {
    if (this.#consumer.type !== 'none') {
      subscriber.error(streamTaken())
      return undefined
    }
    this.#consumer = { type: 'subscriber', subscriber }
    this.#deliver()
    return () => this.#leave()
  }

  iterate(): AsyncIterator<Group> {
    if (this.#consumer.type !== 'none') throw streamTaken()
    const pulls: Pull[] = []
    this.#consumer = { type: 'iterator', pulls }
    const done: IteratorResult<Group> = { done: true, value: undefined }
    return {
      next: () =>
        new Promise((resolve, reject) => {
          if (this.#consumer.type === 'gone') return resolve(done)
          pulls.push({ resolve, reject })
          this.#deliver()
        }),
      return: async () => {
        this.#leave()
        for (const { resolve } of pulls.splice(0)) resolve(done)
        return done
      },
    }
  }

  /** Hands out what can be handed out. A consumer that pushes or ends from within its own call does not get in between. */
  #deliver(): void {
    if (this.#isDelivering) return
    this.#isDelivering = true
    try {
      while (this.#deliverOne());
    } finally {
      this.#isDelivering = false
    }
  }

  #deliverOne(): boolean {
    const consumer = this.#consumer
    if (consumer.type === 'none' || consumer.type === 'gone') return false
    if (consumer.type === 'subscriber') {
      // Unsubscribed while being served within its own subscribe call: the teardown comes next.
      if (consumer.subscriber.closed) return false
      const group = this.#queue.shift()
      if (group === undefined) return this.#deliverEnding(consumer)
      consumer.subscriber.next(group)
      this.#options.waiting?.take(group.bytes)
      return true
    }
    if (consumer.pulls.length === 0) return false
    const group = this.#queue.shift()
    if (group === undefined) return this.#deliverEnding(consumer)
    consumer.pulls.shift()?.resolve({ done: false, value: group })
    this.#options.waiting?.take(group.bytes)
    return true
  }

  #deliverEnding(consumer: Exclude<Consumer, { readonly type: 'none' | 'gone' }>): boolean {
    const ending = this.#ending
    if (ending === undefined) return false
    this.#consumer = { type: 'gone' }
    if (consumer.type === 'subscriber') {
      if (ending.type === 'completed') consumer.subscriber.complete()
      else consumer.subscriber.error(ending.error)
      return false
    }
    const [first, ...others] = consumer.pulls.splice(0)
    if (ending.type === 'failed') first?.reject(ending.error)
    else first?.resolve({ done: true, value: undefined })
    for (const { resolve } of others) resolve({ done: true, value: undefined })
    return false
  }

  /** The consumer wants no more. What nobody will take is no longer waiting. */
  #leave(): void {
    if (this.#consumer.type === 'gone') return
    this.#consumer = { type: 'gone' }
    const rest = this.#queue
    this.#queue = []
    for (const group of rest) this.#options.waiting?.take(group.bytes)
    if (this.#ending === undefined) this.#options.onCancel?.()
  }
}

function toStream(hub: GroupHub): GroupStream {
  const { Observable } = rxjs()
  const groups = new Observable<Group>(subscriber => hub.subscribe(subscriber))
  return Object.assign(groups, { [Symbol.asyncIterator]: () => hub.iterate() })
}
