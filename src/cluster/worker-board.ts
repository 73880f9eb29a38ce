import { Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { type Clock, sleep } from '../clock.ts'
import { BUCKETS, toToken } from './names.ts'
import type { PolicyVersion } from './policy-board.ts'
import { untilAnswered } from './until-answered.ts'

/** What a worker says of itself to whoever looks. */
export interface WorkerLine {
  readonly node: string
  readonly host: string
  readonly version: string
  readonly protocol: number
  readonly cores: number
  readonly memoryBytes: number
  /** Rollouts that it has at most, and could take now. */
  readonly maxConcurrent: number
  readonly free: number
  readonly jobs: readonly string[]
  /** What the trainings among them serve, by job. */
  readonly policies: Readonly<Record<string, PolicyVersion>>
  /** Where its sandboxes for these are, as far as a provider's region was named. */
  readonly regions: readonly string[]
  /** Takes nothing new. */
  readonly isDraining: boolean
}

const REFRESH_MS = 3_000

/** The worker's line, written again every three seconds until it is closed; a line that nobody renews goes by itself. Rejects with `jetstream-silent`. */
export async function announceWorker(
  connection: NatsConnection,
  line: () => WorkerLine,
  clock: Clock,
  onError: (error: unknown) => void,
): Promise<{ close(): Promise<void> }> {
  const bucket = await untilAnswered(connection, clock, () => new Kvm(connection).open(BUCKETS.workers))
  const over = new AbortController()
  const key = toToken(line().node)
  const writing = (async () => {
    while (!over.signal.aborted) {
      await bucket.put(key, JSON.stringify(line())).catch(onError)
      await sleep(clock, REFRESH_MS, over.signal).catch(() => {
        // Only the signal ends the sleep.
      })
    }
  })()
  return {
    async close() {
      over.abort()
      await writing
      await bucket.delete(key)
    },
  }
}

/** Who works now. */
export async function readWorkers(connection: NatsConnection): Promise<readonly WorkerLine[]> {
  const bucket = await new Kvm(connection).open(BUCKETS.workers)
  const lines: WorkerLine[] = []
  for await (const key of await bucket.keys()) {
    const entry = await bucket.get(key)
    if (entry?.operation === 'PUT') lines.push(entry.json<WorkerLine>())
  }
  return lines
}
