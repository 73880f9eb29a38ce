import type { ResourceLimits } from 'node:worker_threads'
import type { CancelTimer } from '../clock.ts'
import { type ErrorData, TroupeError } from '../errors.ts'
import type { Actor, Supervision } from '../kernel/actor.ts'
import type { Ref } from '../kernel/ref.ts'
import { RestartHistory } from '../kernel/supervision.ts'
import type { ActorSystem } from '../kernel/system.ts'
import { threadStuck, threadsFailing, threadsLeft } from './errors.ts'
import type { CloseInbox, ThreadUp } from './messages.ts'
import { HostedThread } from './thread.ts'
import { makeWorkerPool, within } from './worker-pool.ts'

/** Time a thread beyond asking has to end: inside a native call it can take for ever. */
const TERMINATE_MS = 2_000

export interface ThreadOptions {
  readonly threads: number
  /** A built module whose export `startShard(system, data)` returns the ref of the shard's root actor, or a promise of it. */
  readonly entry: URL
  /** Given to `startShard`, cloned. */
  readonly data: unknown
  readonly system: ActorSystem
  /** Between two signs of life. Default 1,000. */
  readonly pulseMs?: number
  /** Without a sign of life for that long a thread counts as hung and is destroyed. Default 10,000. */
  readonly hangMs?: number
  readonly resourceLimits?: ResourceLimits
  /** Fresh threads started in the place of one, at most `intensity` in `periodMs`. Default 5 in 60 s. */
  readonly restart?: { readonly intensity: number; readonly periodMs: number }
  onUp(thread: { readonly node: string; readonly root: Ref<never> }): void
  /** A thread is gone and its link down: nothing more comes from `node`. The tag `threads-failing` says that none replaces it. */
  onDown(node: string, error: ErrorData): void
}

export interface ThreadPool {
  readonly threads: number
  /** Resolves when the shard of each thread has started once; rejects with `threads-failing`. */
  readonly started: Promise<void>
  /**
   * Stops the shards in order and ends the threads. What has not stopped by itself after `deadlineMs` is destroyed; rejects
   * with `threads-left` if a thread is still there 2 s later. Called twice, it gives the same promise.
   */
  close(deadlineMs: number): Promise<void>
}

/** One thread's place, kept by its successors. */
interface Slot {
  readonly restarts: RestartHistory
  thread: HostedThread | undefined
  cancelRestart: CancelTimer | undefined
  cameUp: boolean
}

// Unique in the process: a name used again would let a message for a thread that is gone reach its successor.
let lastThread = 0

/**
 * Starts worker threads that each host one shard, and puts a fresh thread under a new name in the place of one that exits,
 * throws, runs out of memory or hangs.
 */
export function startThreads(options: ThreadOptions): ThreadPool {
  const { system } = options
  const { clock } = system
  const restart = options.restart ?? { intensity: 5, periodMs: 60_000 }
  const supervision: Supervision = { ...restart, decide: () => 'restart', backoff: { baseMs: 50, maxMs: 5_000 } }
  const workers = makeWorkerPool(options.threads, clock, options.resourceLimits)
  const slots = Array.from({ length: options.threads }, makeSlot)
  let closing: Promise<void> | undefined
  let stopping = false
  let settleStarted: { resolve(): void; reject(error: Error): void } | undefined
  const started = new Promise<void>((resolve, reject) => {
    settleStarted = { resolve, reject }
  })
  // Whoever does not look at `started` hears of the same failure by onDown.
  started.catch(() => {})

  function start(slot: Slot): void {
    lastThread += 1
    const thread = new HostedThread({
      piscina: workers.piscina,
      system,
      node: `${system.node}-thread-${lastThread}`,
      entry: options.entry,
      data: options.data,
      inbox,
      pulseMs: options.pulseMs ?? 1_000,
      hangMs: options.hangMs ?? 10_000,
      onEnd: error => ended(slot, thread.node, error),
    })
    slot.thread = thread
  }

  function up(message: ThreadUp): void {
    const slot = slots.find(({ thread }) => thread?.node === message.node)
    if (slot?.thread === undefined) return
    slot.cameUp = true
    slot.thread.up(message)
    if (!stopping) options.onUp({ node: message.node, root: message.root })
    if (slots.every(({ cameUp }) => cameUp)) settleStarted?.resolve()
  }

  function ended(slot: Slot, node: string, error: ErrorData): void {
    slot.thread = undefined
    if (stopping) return
    const verdict = slot.restarts.judge(supervision, error, clock.now(), system.random(), true)
    if (verdict.directive === 'restart') {
      slot.cancelRestart = clock.after(verdict.delayMs, () => start(slot))
      options.onDown(node, error)
      return
    }
    const failing = threadsFailing(node, restart.intensity, restart.periodMs, error)
    settleStarted?.reject(new TroupeError(failing))
    options.onDown(node, failing)
  }

  function beginStopping(): void {
    stopping = true
    for (const slot of slots) {
      slot.cancelRestart?.()
      slot.thread?.stop()
    }
  }

  async function close(deadlineMs: number): Promise<void> {
    beginStopping()
    const threads = slots.flatMap(({ thread }) => thread ?? [])
    await within(clock, deadlineMs, Promise.all(threads.map(({ ended }) => ended)))
    for (const thread of threads) thread.destroy(threadStuck(thread.node, deadlineMs))
    const left = await workers.destroy(TERMINATE_MS)
    inbox.tell({ type: 'close-inbox' })
    if (left > 0) throw threadsLeft(left, TERMINATE_MS)
  }

  const inbox = system.spawn(makeInbox(up, beginStopping))
  slots.forEach(start)
  return {
    threads: options.threads,
    started,
    close(deadlineMs) {
      closing ??= close(deadlineMs)
      return closing
    },
  }
}

function makeSlot(): Slot {
  return { restarts: new RestartHistory(), thread: undefined, cancelRestart: undefined, cameUp: false }
}

/** Where threads report. A system that stops before its pool is closed takes the pool's threads with it. */
function makeInbox(up: (message: ThreadUp) => void, onStop: () => void): Actor<undefined, ThreadUp | CloseInbox> {
  return {
    name: 'thread-pool',
    initial: () => undefined,
    receive(state, message, context) {
      if (message.type === 'thread-up') up(message)
      else context.stop()
      return state
    },
    onStop,
  }
}
