import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { type CancelTimer, type Clock, systemClock } from '../../clock.ts'
import { fromErrorData } from '../../errors.ts'
import { encoderLate, encoderLost } from '../errors.ts'
import type { FromEncoder, ToEncoder } from './messages.ts'

/** A piece of a body, in a buffer of its own. */
export interface Fragment {
  /** Elements of the body's long array, each with a comma before it. */
  readonly json: Uint8Array
  /** Samples in it. */
  readonly datums: number
}

export interface Encoder {
  /** A run as one element of `inputs`. `packed` is handed over. Rejects with what `checkTokens` throws, or with `encoder-lost`. */
  encodeRun(runId: string, reward: number, packed: Uint8Array<ArrayBuffer>): Promise<Fragment>
  /** Rows as elements of `weights`. They are handed over. */
  encodeRows(rows: readonly Float32Array<ArrayBuffer>[]): Promise<Fragment>
  /** The threads end when the last that holds them lets go. */
  close(): Promise<void>
}

/** For one piece with all those before it. */
const DEADLINE_MS = 60_000

/** Pieces take turns among them; the next is started only when all are busy. */
const MAX_THREADS = Math.min(4, availableParallelism())

let shared: EncoderThreads | undefined

/** The process's encoding threads: started by the first pieces, and no reason for the process to stay while they are idle. */
export function openEncoder(clock: Clock = systemClock): Encoder {
  shared ??= new EncoderThreads()
  const threads = shared
  threads.holders += 1
  let open = true
  return {
    encodeRun: (runId, reward, packed) =>
      threads.leastBusy().ask(id => ({ type: 'encode-run', id, runId, reward, packed }), [packed.buffer], clock),
    encodeRows: rows =>
      threads.leastBusy().ask(
        id => ({ type: 'encode-rows', id, rows }),
        rows.map(row => row.buffer),
        clock,
      ),
    async close() {
      if (!open) return
      open = false
      threads.holders -= 1
      if (threads.holders > 0) return
      if (shared === threads) shared = undefined
      await threads.stop()
    },
  }
}

class EncoderThreads {
  holders = 0
  readonly #threads: EncoderThread[] = []

  leastBusy(): EncoderThread {
    let least: EncoderThread | undefined
    for (const thread of this.#threads) if (least === undefined || thread.busy < least.busy) least = thread
    if (least !== undefined && (least.busy === 0 || this.#threads.length === MAX_THREADS)) return least
    const started = new EncoderThread()
    this.#threads.push(started)
    return started
  }

  async stop(): Promise<void> {
    await Promise.all(this.#threads.map(thread => thread.stop()))
  }
}

interface Waiting {
  readonly resolve: (fragment: Fragment) => void
  readonly reject: (error: unknown) => void
  readonly cancel: CancelTimer
}

class EncoderThread {
  #worker: Worker | undefined
  #lastId = 0
  readonly #waiting = new Map<number, Waiting>()

  ask(question: (id: number) => ToEncoder, transfer: readonly ArrayBuffer[], clock: Clock): Promise<Fragment> {
    return new Promise((resolve, reject) => {
      this.#lastId += 1
      const id = this.#lastId
      const worker = this.#worker ?? this.#start()
      const cancel = clock.after(DEADLINE_MS, () => {
        this.#fail(encoderLate(DEADLINE_MS))
        void worker.terminate()
      })
      this.#waiting.set(id, { resolve, reject, cancel })
      worker.ref()
      worker.postMessage(question(id), transfer)
    })
  }

  /** Pieces that wait for it. */
  get busy(): number {
    return this.#waiting.size
  }

  async stop(): Promise<void> {
    const worker = this.#worker
    this.#fail(encoderLost(new Error('the encoder was closed')))
    await worker?.terminate()
  }

  #start(): Worker {
    const worker = new Worker(new URL('./thread.js', import.meta.url), { name: 'troupe-body', execArgv: [] })
    worker.on('message', (answer: FromEncoder) => this.#answered(answer))
    worker.on('error', error => this.#lost(worker, error))
    worker.on('exit', code => this.#lost(worker, new Error(`it exited with code ${code}`)))
    this.#worker = worker
    return worker
  }

  #answered(answer: FromEncoder): void {
    const waiting = this.#waiting.get(answer.id)
    if (waiting === undefined) return
    this.#waiting.delete(answer.id)
    waiting.cancel()
    if (this.#waiting.size === 0) this.#worker?.unref()
    if (answer.type === 'failed') waiting.reject(fromErrorData(answer.error))
    else waiting.resolve({ json: answer.json, datums: answer.datums })
  }

  #lost(worker: Worker, cause: unknown): void {
    if (this.#worker === worker) this.#fail(encoderLost(cause))
  }

  /** Whoever waits is told, and the next piece gets a fresh thread. */
  #fail(error: unknown): void {
    this.#worker = undefined
    const waiting = [...this.#waiting.values()]
    this.#waiting.clear()
    for (const { reject, cancel } of waiting) {
      cancel()
      reject(error)
    }
  }
}
