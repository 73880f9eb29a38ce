import { Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { type Clock, sleep } from '../clock.ts'
import { badClusterMessage } from './errors.ts'
import { isConflict } from './job-claim.ts'
import { type Lease, leasesOf } from './leases.ts'
import { BUCKETS } from './names.ts'

/** An owner that has a lease, and since when the lease is as it is now, by this coordinator's clock. */
export interface SeenLease {
  readonly owner: string
  readonly seenAt: number
}

export interface LeaseBookPorts {
  readonly jobId: string
  readonly clock: Clock
  /** Between two looks. */
  readonly lookMs: number
  /** All leases of the job, after each look. */
  readonly onSeen: (leases: readonly SeenLease[]) => void
  readonly onError: (error: unknown) => void
}

/** The leases of a job's workers, those of earlier lives of its coordinator among them. */
export interface LeaseBook {
  /** Before what an owner has left is deleted; what it returns is called when that is gone, and takes its leases away as they are now: one that is written anew meanwhile stays. */
  readonly reaping: (owner: string) => () => void
  /** Takes away what is still to be taken away. */
  close(): Promise<void>
}

interface Known {
  readonly owner: string
  readonly revision: number
  readonly seenAt: number
}

/** For all leases to be read. */
const READ_MS = 10_000

/** Looks until it is closed. */
export function openLeaseBook(connection: NatsConnection, ports: LeaseBookPorts): LeaseBook {
  const { jobId, clock, onError } = ports
  const over = new AbortController()
  let known: ReadonlyMap<string, Known> = new Map()
  /** Revisions of leases of which nothing is left. */
  const gone = new Map<string, number>()
  const open = () => new Kvm(connection).open(BUCKETS.leases)

  /** One that is of nobody is told and left alone. */
  async function read(): Promise<ReadonlyMap<string, Known>> {
    const found = new Map<string, Known>()
    const entries = await (await open()).history({ key: leasesOf(jobId) })
    let isLate = false
    const cancel = clock.after(READ_MS, () => {
      isLate = true
      entries.stop()
    })
    try {
      for await (const { key, operation, revision, value } of entries) {
        if (operation !== 'PUT') continue
        const owner = readOwner(key, value)
        if (owner instanceof Error) onError(owner)
        else {
          const before = known.get(key)
          found.set(key, { owner, revision, seenAt: before?.revision === revision ? before.seenAt : clock.now() })
        }
      }
    } finally {
      cancel()
    }
    if (isLate) throw new Error(`the leases of ${jobId} were not read within ${READ_MS} ms`)
    return found
  }

  async function remove(): Promise<void> {
    const bucket = await open()
    for (const [key, revision] of gone) {
      try {
        await bucket.delete(key, { previousSeq: revision })
      } catch (error) {
        if (!isConflict(error)) throw error
      }
      gone.delete(key)
    }
  }

  async function look(): Promise<void> {
    const found = await read()
    known = found
    const left = [...found].filter(([key, { revision }]) => gone.get(key) !== revision)
    ports.onSeen(left.map(([, { owner, seenAt }]) => ({ owner, seenAt })))
    if (gone.size > 0) await remove()
  }

  const looking = (async () => {
    while (!over.signal.aborted) {
      await look().catch(onError)
      await sleep(clock, ports.lookMs, over.signal).catch(() => {
        // Only the signal ends the sleep.
      })
    }
  })()

  return {
    reaping(owner) {
      const own = [...known].filter(([, lease]) => lease.owner === owner)
      return () => {
        for (const [key, { revision }] of own) gone.set(key, revision)
      }
    },
    async close() {
      over.abort()
      await looking
      if (gone.size > 0) await remove().catch(onError)
    },
  }
}

function readOwner(key: string, value: Uint8Array): string | Error {
  const subject = `$KV.${BUCKETS.leases}.${key}`
  try {
    const { owner }: Partial<Lease> = JSON.parse(new TextDecoder().decode(value))
    return typeof owner === 'string' ? owner : badClusterMessage(subject, 'it names no owner')
  } catch (error) {
    return badClusterMessage(subject, 'it is no JSON', error)
  }
}
