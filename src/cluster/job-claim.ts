import { JetStreamApiCodes, JetStreamApiError } from '@nats-io/jetstream'
import { type KV, Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { type Clock, sleep } from '../clock.ts'
import type { TroupeError } from '../errors.ts'
import { type CoordinatorName, jobTakenOver } from './errors.ts'
import { BUCKETS, toToken } from './names.ts'

export interface ClaimPorts {
  readonly jobId: string
  readonly own: CoordinatorName
  readonly clock: Clock
  /** Ends the looking. */
  readonly signal: AbortSignal
  /** Between two looks whether the job is still this coordinator's. */
  readonly lookMs: number
  /** A later coordinator has the job: told once. */
  readonly onLost: (error: TroupeError) => void
  readonly onError: (error: unknown) => void
}

/** A coordinator's hold on its job: the newest has it, and those before end. */
export interface JobClaim {
  /** Greater than that of each life before: the revision of the board at which it was taken. */
  readonly life: number
  /** `job-taken-over`, once a later coordinator has the job. */
  readonly lost: TroupeError | undefined
  /** Puts on the board what is to be read there. Never rejects. */
  write(entry: CoordinatorName): Promise<void>
  /** Looks now. Rejects with `job-taken-over`, or with why it could not be seen. */
  check(): Promise<void>
  /** Takes the job from the board, where it is still this coordinator's. After the signal. */
  close(): Promise<void>
}

/** What is compared when it is written: the job's entry is nobody else's. */
type Standing = { readonly isOurs: true; readonly revision: number } | { readonly isOurs: false }

/**
 * Takes the job: whoever had it finds another's name on the board, and ends. One of two processes that have the same journal, or copies of it, is left then: the last that was
 * started.
 */
export async function claimJob(connection: NatsConnection, ports: ClaimPorts): Promise<JobClaim> {
  const { jobId, own, clock, signal } = ports
  const bucket = await new Kvm(connection).open(BUCKETS.jobs)
  const key = toToken(jobId)
  const life = await bucket.put(key, JSON.stringify({ jobId, ...own }))
  let revision = life
  let lost: TroupeError | undefined

  async function check(): Promise<void> {
    if (lost !== undefined) throw lost
    const entry = await bucket.get(key)
    const standing = judge(entry, own, revision)
    if (standing.isOurs) {
      revision = standing.revision
      return
    }
    if (lost !== undefined) throw lost
    lost = jobTakenOver(jobId, own, readName(entry))
    ports.onLost(lost)
    throw lost
  }

  const looking = (async () => {
    while (!signal.aborted && lost === undefined) {
      await check().catch(error => error === lost || ports.onError(error))
      await sleep(clock, ports.lookMs, signal).catch(() => {
        // Only the signal ends the sleep.
      })
    }
  })()

  return {
    life,
    get lost() {
      return lost
    },
    async write(entry) {
      try {
        if (lost === undefined) revision = await bucket.put(key, JSON.stringify(entry), { previousSeq: revision })
      } catch (error) {
        // Another has it, or it is there and only its answer was lost.
        if (isConflict(error)) await check().catch(why => why === lost || ports.onError(why))
        else ports.onError(error)
      }
    },
    check,
    async close() {
      await looking
      if (lost !== undefined) return
      await bucket.delete(key, { previousSeq: revision }).catch(async error => {
        if (!isConflict(error)) throw error
        await check().catch(why => why === lost || Promise.reject(why))
      })
    },
  }
}

/** Whether the bucket has another revision than the one that was to be replaced. */
export function isConflict(error: unknown): boolean {
  return (
    error instanceof JetStreamApiError &&
    (error.code === JetStreamApiCodes.StreamWrongLastSequence ||
      error.code === JetStreamApiCodes.StreamWrongLastSequenceUnknown)
  )
}

type Entry = Awaited<ReturnType<KV['get']>>

function judge(entry: Entry, { epoch }: CoordinatorName, known: number): Standing {
  // Somebody has made the bucket anew: it is written there with the next line.
  if (entry === null) return { isOurs: true, revision: 0 }
  if (entry.revision < known) return { isOurs: true, revision: known }
  // Also where it is deleted: by another that had taken it, since nobody else does.
  return readName(entry)?.epoch === epoch ? { isOurs: true, revision: entry.revision } : { isOurs: false }
}

function readName(entry: Entry): CoordinatorName | undefined {
  if (entry?.operation !== 'PUT') return undefined
  try {
    const { epoch, host }: Partial<CoordinatorName> = entry.json()
    return typeof epoch === 'string' && typeof host === 'string' ? { epoch, host } : undefined
  } catch {
    // Whoever has written it, it was not this coordinator.
    return undefined
  }
}
