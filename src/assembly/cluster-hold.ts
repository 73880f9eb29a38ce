import { hostname } from 'node:os'
import type { JetStreamManager } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import type { Clock } from '../clock.ts'
import { announceJob, type JobEntry } from '../cluster/job-board.ts'
import { claimJob } from '../cluster/job-claim.ts'
import { openLeaseBook, type SeenLease } from '../cluster/lease-book.ts'
import type { JobLife } from '../cluster/names.ts'
import { ensureStreams, isMissing, makeConsumers, removeJob } from '../cluster/streams.ts'
import { untilAnswered } from '../cluster/until-answered.ts'
import { type TroupeError, toErrorData } from '../errors.ts'
import { startPolicyBoard } from './cluster-policy.ts'
import type { EnginePorts } from './engine.ts'

export interface HoldPorts extends Pick<EnginePorts, 'jobId' | 'journal' | 'onLost'> {
  readonly epoch: string
  readonly redeliverMs: number
  readonly clock: Clock
  readonly over: AbortController
  readonly onTrouble: (error: unknown) => void
}

/** What one life of a job's coordinator has of the job at the servers: the job itself, its consumers, its policy's versions, and leases of sandboxes. */
export interface ClusterHold {
  readonly own: JobLife & Pick<JobEntry, 'jobId' | 'epoch' | 'host' | 'redeliverMs'>
  /** Another coordinator has it now. */
  isLost(): boolean
  /** Looks whether it has. Never rejects. */
  look(): Promise<void>
  /** Unless it is only that another has taken the job, and its consumers. */
  tellUnlessLost(error: unknown): void
  /** Before workers hear of the job. */
  watchLeases(onSeen: (leases: readonly SeenLease[]) => void): void
  reaping(owner: string): () => void
  announce(entry: JobEntry): void
  /** After the engine's end; `between` is what ends with the trying, while the job is still there. */
  close(between: () => Promise<void>): Promise<void>
}

/** Between two looks whether another coordinator has taken the job over. */
const LOOK_MS = 1_000
/** Between two looks at leases; a part of the time after which they count as those of the dead. */
const LEASES_MS = 5_000

/** Makes what is not there yet, and takes the job from whoever had it. Rejects with `policy-ahead`, with `job-taken-over` where another is quicker, and with `jetstream-silent`. */
export async function takeHold(
  connection: NatsConnection,
  manager: JetStreamManager,
  ports: HoldPorts,
): Promise<ClusterHold> {
  const { jobId, journal, epoch, redeliverMs, clock, over, onTrouble } = ports
  const answered = <Value>(work: () => Promise<Value>) => untilAnswered(connection, clock, work)
  await answered(() => ensureStreams(connection, manager))
  const host = hostname()
  const claiming = {
    jobId,
    own: { epoch, host },
    clock,
    signal: over.signal,
    lookMs: Math.min(LOOK_MS, redeliverMs / 6),
    onLost: (error: TroupeError) => ports.onLost?.(toErrorData(error)),
    onError: onTrouble,
  }
  const claim = await answered(() => claimJob(connection, claiming))
  const own = { jobId, life: claim.life, epoch, host, redeliverMs }
  const look = () =>
    claim.check().catch(error => {
      if (claim.lost === undefined) onTrouble(error)
    })
  async function tellUnlessLost(error: unknown): Promise<void> {
    if (isMissing(error)) await look()
    if (claim.lost === undefined) onTrouble(error)
  }
  const serving = {
    jobId,
    epoch,
    clock,
    signal: over.signal,
    checkClaim: claim.check,
    onTrouble: (error: unknown) => void tellUnlessLost(error),
  }
  const policy = await answered(() => startPolicyBoard(connection, journal, serving))
  await answered(() => makeConsumers(manager, own, redeliverMs, claim.check))
  let leases: ReturnType<typeof openLeaseBook> | undefined
  let announced: ReturnType<typeof announceJob> | undefined

  return {
    own,
    isLost: () => claim.lost !== undefined,
    look,
    tellUnlessLost: error => void tellUnlessLost(error),
    watchLeases(onSeen) {
      const lookMs = Math.min(LEASES_MS, redeliverMs / 4)
      leases = openLeaseBook(connection, { jobId, clock, lookMs, onSeen, onError: onTrouble })
    },
    reaping: owner => leases?.reaping(owner) ?? (() => {}),
    announce(entry) {
      announced = announceJob(connection, entry, claim, clock)
    },
    async close(between) {
      await policy.close()
      await leases?.close()
      over.abort()
      // What is left at a server that does not answer now is small, has an age, and is taken up if the job goes on.
      await between()
      await announced?.close()
      await claim.close().catch(onTrouble)
      // Else it is another's.
      if (claim.lost === undefined) await removeJob(manager, own).catch(onTrouble)
    },
  }
}
