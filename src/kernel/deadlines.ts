import type { CancelTimer, Clock } from '../clock.ts'
import type { Scheduler } from './scheduler.ts'

/** An entry in the list of all waits of one length. */
export interface Expiring {
  /** On the clock; `UNSTAMPED` in the turn in which it was set. */
  dueAt: number
  previous: Expiring | undefined
  next: Expiring | undefined
  list: DeadlineList | undefined
  /** Called while it is still in its list. */
  expire(deadlineMs: number): void
  /** Called when the system stops before that. */
  abandon(): void
}

/** Reading the clock for each of a million questions a second is not free, so those of a burst share one reading. */
export const UNSTAMPED = -1
/** Questions that read the clock before it counts as a burst. */
const STAMPED_AT_ONCE = 16

/** Lists that stay when they run empty, with their timer: most systems use a handful of deadlines over and over. */
const KEPT_LISTS = 16

/**
 * Deadlines of questions. Those of one length expire in the order they were set, so each length has a linked list and one
 * timer, for its head: setting and dropping one costs no timer. The questions of a burst count from the end of
 * their turn of the event loop, so their time is never short, and a turn that lasts lets no timer fire anyhow.
 */
export class Deadlines {
  private readonly clock: Clock
  private readonly scheduler: Scheduler
  private readonly lists = new Map<number, DeadlineList>()
  private latest: DeadlineList | undefined
  private sinceTurn = 0
  private stampWanted = false

  constructor(clock: Clock, scheduler: Scheduler) {
    this.clock = clock
    this.scheduler = scheduler
  }

  set(entry: Expiring, deadlineMs: number): void {
    const latest = this.latest
    if (latest !== undefined && latest.deadlineMs === deadlineMs) latest.append(entry)
    else this.listOf(deadlineMs).append(entry)
    this.sinceTurn += 1
    if (this.sinceTurn <= STAMPED_AT_ONCE) entry.dueAt = this.clock.now() + deadlineMs
    else if (!this.stampWanted) {
      this.stampWanted = true
      this.scheduler.macrotask(this.endTurn)
    }
  }

  drop(entry: Expiring): void {
    const list = entry.list
    if (list === undefined) return
    list.remove(entry)
    if (list.head === undefined && this.lists.size > KEPT_LISTS) {
      list.stop()
      this.forget(list)
    }
  }

  /** Drops every timer and abandons what still waits. */
  stop(): void {
    for (const list of this.lists.values()) {
      list.stop()
      list.abandon()
    }
    this.lists.clear()
    this.latest = undefined
  }

  private listOf(deadlineMs: number): DeadlineList {
    let list = this.lists.get(deadlineMs)
    if (list === undefined) {
      list = new DeadlineList(this.clock, deadlineMs, idle => this.forget(idle))
      this.lists.set(deadlineMs, list)
    }
    this.latest = list
    return list
  }

  private forget(list: DeadlineList): void {
    this.lists.delete(list.deadlineMs)
    if (this.latest === list) this.latest = undefined
  }

  private readonly endTurn = (): void => {
    this.sinceTurn = 0
    this.stampWanted = false
    const now = this.clock.now()
    for (const list of this.lists.values()) list.stamp(now)
  }
}

/** All waits of one length, in the order they were set: first those with a time, then those of this turn. */
export class DeadlineList {
  readonly deadlineMs: number
  head: Expiring | undefined
  private tail: Expiring | undefined
  private readonly clock: Clock
  private readonly onIdle: (list: DeadlineList) => void
  private timer: CancelTimer | undefined

  constructor(clock: Clock, deadlineMs: number, onIdle: (list: DeadlineList) => void) {
    this.clock = clock
    this.deadlineMs = deadlineMs
    this.onIdle = onIdle
  }

  append(entry: Expiring): void {
    entry.list = this
    entry.dueAt = UNSTAMPED
    entry.previous = this.tail
    if (this.tail === undefined) this.head = entry
    else this.tail.next = entry
    this.tail = entry
    this.timer ??= this.clock.after(this.deadlineMs, this.wake)
  }

  remove(entry: Expiring): void {
    if (entry.previous === undefined) this.head = entry.next
    else entry.previous.next = entry.next
    if (entry.next === undefined) this.tail = entry.previous
    else entry.next.previous = entry.previous
    entry.previous = undefined
    entry.next = undefined
    entry.list = undefined
  }

  stamp(now: number): void {
    for (let entry = this.tail; entry !== undefined && entry.dueAt === UNSTAMPED; entry = entry.previous)
      entry.dueAt = now + this.deadlineMs
  }

  stop(): void {
    this.timer?.()
    this.timer = undefined
  }

  abandon(): void {
    while (this.head !== undefined) {
      const entry = this.head
      entry.abandon()
      if (entry.list === this) this.remove(entry)
    }
  }

  private readonly wake = (): void => {
    this.timer = undefined
    const now = this.clock.now()
    this.stamp(now)
    while (this.head !== undefined && this.head.dueAt <= now) {
      const entry = this.head
      entry.expire(this.deadlineMs)
      if (entry.list === this) this.remove(entry)
    }
    if (this.head === undefined) this.onIdle(this)
    // A timer may fire a fraction early; at least 1 ms keeps it from spinning.
    else this.timer ??= this.clock.after(Math.max(1, this.head.dueAt - now), this.wake)
  }
}
