import { Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import type { Clock } from '../clock.ts'
import { isConflict } from './job-claim.ts'
import { BUCKETS, toToken } from './names.ts'
import { openLate } from './open-late.ts'
import { surely } from './publish.ts'

/** A worker may have sandboxes of a job: written before it makes its runtime, and deleted when nothing of it is left. */
export interface Lease {
  /** Its process, as its sandboxes are labelled with it. */
  readonly owner: string
  readonly node: string
  readonly host: string
  /** Where the sandboxes are: `daytona`, `docker`, … */
  readonly runtime: string
  /** Milliseconds since 1970. */
  readonly since: number
}

export const leasesOf = (jobId: string): string => `${toToken(jobId)}.*`
const keyOf = (jobId: string, node: string): string => `${toToken(jobId)}.${toToken(node)}`

export interface LeasePorts {
  readonly clock: Clock
  /** Ends the trying. */
  readonly signal: AbortSignal
  readonly onTrouble: (error: unknown) => void
}

/** A worker's leases, one for each job, however many lives of the job it works for. */
export interface Leases {
  /** Resolves when the bucket has it. Rejects with the signal's reason. */
  take(jobId: string, runtime: string, ports: LeasePorts): Promise<HeldLease>
}

/** What one life of a job holds of the worker's lease. */
export interface HeldLease {
  /** Writes it anew, also where it was taken for one of a dead worker. Rejects with the signal's reason. */
  renew(signal: AbortSignal): Promise<void>
  /** The last one deletes it, unless something may be left. Never rejects: a lease that stays is looked after by the coordinator. */
  giveBack(isClean: boolean): Promise<void>
}

interface JobLease {
  holders: number
  /** Sandboxes may still exist that nobody here will delete. */
  hasLeft: boolean
  revision: number
  readonly since: number
}

export function makeLeases(connection: NatsConnection, who: Pick<Lease, 'owner' | 'node' | 'host'>): Leases {
  const jobs = new Map<string, JobLease>()
  const open = openLate(() => new Kvm(connection).open(BUCKETS.leases))

  return {
    async take(jobId, runtime, ports) {
      const lease = jobs.get(jobId) ?? { holders: 0, hasLeft: false, revision: 0, since: ports.clock.wallTime() }
      jobs.set(jobId, lease)
      const key = keyOf(jobId, who.node)
      const text = JSON.stringify({ ...who, runtime, since: lease.since } satisfies Lease)
      const write = async (signal: AbortSignal) => {
        const revision = await surely({ ...ports, signal }, async () => (await open()).put(key, text))
        lease.revision = Math.max(lease.revision, revision)
      }
      lease.holders += 1
      await write(ports.signal).catch(error => {
        lease.holders -= 1
        throw error
      })
      return {
        renew: write,
        async giveBack(isClean) {
          lease.holders -= 1
          lease.hasLeft ||= !isClean
          if (lease.holders > 0 || lease.hasLeft) return
          try {
            await (await open()).delete(key, { previousSeq: lease.revision })
          } catch (error) {
            if (!isConflict(error)) ports.onTrouble(error)
          }
        },
      }
    },
  }
}
