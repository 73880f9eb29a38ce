import { availableParallelism, hostname, totalmem } from 'node:os'
import { jetstreamManager } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { type Clock, sleep } from '../clock.ts'
import { connectNats } from '../cluster/connect.ts'
import { makeCredits } from '../cluster/credits.ts'
import { workerVersion } from '../cluster/errors.ts'
import { type JobEntry, type RuntimeRequest, watchJobs } from '../cluster/job-board.ts'
import { makeLeases } from '../cluster/leases.ts'
import { BUCKETS, workerNode } from '../cluster/names.ts'
import { openNodeLinks } from '../cluster/node-links.ts'
import { type PolicyVersion, watchPolicies } from '../cluster/policy-board.ts'
import { isMissing } from '../cluster/streams.ts'
import { makeTrouble } from '../cluster/trouble.ts'
import { untilAborted } from '../cluster/until-aborted.ts'
import { PROTOCOL } from '../cluster/wire.ts'
import { announceWorker, type WorkerLine } from '../cluster/worker-board.ts'
import { type ErrorData, toErrorData } from '../errors.ts'
import { randomIds } from '../ids.ts'
import { makeSystem } from '../kernel/system.ts'
import { toOwnerWord } from '../owner.ts'
import type { Runtime } from '../runtimes/runtime.ts'
import { observed } from '../telemetry/observed.ts'
import { readVersion } from '../version.ts'
import type { WorkerLimits } from './worker-engine.ts'
import { startWorkerJob, type WorkerJob } from './worker-job.ts'
import { makeWorkerAccounts } from './worker-limits.ts'

export interface ClusterWorkerOptions extends WorkerLimits {
  readonly nats: string
  readonly clock: Clock
  /** A runtime of this worker's own, for a job's request. */
  readonly makeRuntime: (request: RuntimeRequest) => Promise<Runtime>
  /** Said for people: which job it works for, and why it does not. */
  readonly onNews: (news: WorkerNews) => void
}

export type WorkerNews =
  /** Nobody has run a job on this server yet. */
  | { readonly type: 'waiting' }
  | { readonly type: 'joined'; readonly jobId: string }
  /** `rollouts`: how many of the job have ended here. */
  | { readonly type: 'left'; readonly jobId: string; readonly rollouts: number }
  /** The job's training serves this version now. */
  | ({ readonly type: 'policy'; readonly jobId: string } & PolicyVersion)
  | { readonly type: 'refused'; readonly jobId: string; readonly error: ErrorData }

export interface ClusterWorker {
  readonly node: string
  /** Resolves when it has drained; rejects with what keeps it from working at all. */
  readonly ended: Promise<void>
  /** Takes nothing new, lets what is under way end within that time or hands it back, and gives everything back. Twice is once. */
  drain(graceMs: number): Promise<void>
}

const LOOK_AGAIN_MS = 500

/** Works for every job that looks for workers, until it is drained. Rejects as `connectNats` does. */
export async function startClusterWorker(options: ClusterWorkerOptions): Promise<ClusterWorker> {
  const host = hostname()
  const node = workerNode(host, randomIds.hex(4))
  const connection = await connectNats({ urls: options.nats, role: 'worker', name: `troupe worker ${host}` })
  const draining = new AbortController()
  let grace = 0
  const ended = work(connection, { node, host, draining: draining.signal, graceMs: () => grace }, options).finally(() =>
    connection.drain(),
  )
  return {
    node,
    ended,
    drain(graceMs) {
      grace = graceMs
      draining.abort()
      return ended
    },
  }
}

interface Joined {
  readonly jobId: string
  readonly part: Promise<WorkerJob | undefined>
}

interface Place {
  readonly node: string
  readonly host: string
  readonly draining: AbortSignal
  readonly graceMs: () => number
}

async function work(
  connection: NatsConnection,
  { node, host, draining, graceMs }: Place,
  options: ClusterWorkerOptions,
): Promise<void> {
  const { clock, onNews } = options
  const { tell: onTrouble } = makeTrouble(undefined)
  await untilBoard(connection, options, onTrouble, draining)
  if (draining.aborted) return
  const own = { version: readVersion(), protocol: PROTOCOL }
  const system = makeSystem({ node, clock, ...observed() })
  const links = openNodeLinks(connection, system, () => randomIds.hex(4), onTrouble)
  const leases = makeLeases(connection, { node, host, owner: toOwnerWord() })
  const credits = makeCredits(options.maxConcurrent)
  const over = new AbortController()
  const accounts = makeWorkerAccounts(system, clock, over.signal)
  const jobs = new Map<string, Joined>()
  const regions = new Map<string, string>()
  const served = new Map<string, PolicyVersion>()
  /** The newest life of each job that was heard of. */
  const newest = new Map<string, number>()
  /** Lives of jobs that this worker cannot work for, and those that it has ended. */
  const past = new Set<string>()

  const worksFor = () => [...new Set([...jobs.values()].map(({ jobId }) => jobId))]

  function tellPolicy(jobId: string): void {
    const version = served.get(jobId)
    if (version !== undefined && worksFor().includes(jobId)) onNews({ type: 'policy', jobId, ...version })
  }

  async function join(entry: JobEntry): Promise<WorkerJob | undefined> {
    const { jobId, epoch } = entry
    try {
      const job = await startWorkerJob(entry, {
        connection,
        system,
        links,
        note: { node, host, owner: toOwnerWord(), ...own },
        limits: options,
        accounts,
        credits,
        leases,
        stopping: draining,
        jobs: () => Math.max(1, jobs.size),
        clock,
        async makeRuntime(request) {
          const runtime = await options.makeRuntime(request)
          if (runtime.region !== undefined) regions.set(epoch, runtime.region)
          return runtime
        },
        onOver(why, isForGood, rollouts) {
          regions.delete(epoch)
          if (isForGood) past.add(epoch)
          jobs.delete(epoch)
          onNews(why === undefined ? { type: 'left', jobId, rollouts } : { type: 'refused', jobId, error: why })
        },
        onTrouble,
      })
      onNews({ type: 'joined', jobId })
      tellPolicy(jobId)
      return job
    } catch (error) {
      past.add(epoch)
      regions.delete(epoch)
      jobs.delete(epoch)
      // Not while it waited for its lease, which it needs no more.
      if (!draining.aborted) onNews({ type: 'refused', jobId, error: toErrorData(error) })
      return undefined
    }
  }

  const watch = watchJobs(connection, {
    onSign(entry) {
      const { epoch, jobId, version, protocol, life } = entry
      if (draining.aborted || past.has(epoch)) return
      if (version !== own.version || protocol !== own.protocol) {
        past.add(epoch)
        onNews({ type: 'refused', jobId, error: workerVersion(node, { job: { version, protocol }, worker: own }) })
        return
      }
      // Another has its job, which it will soon know itself.
      if (life < (newest.get(jobId) ?? 0)) return
      newest.set(jobId, life)
      const known = jobs.get(epoch)
      if (known !== undefined) return void known.part.then(job => job?.sign())
      for (const former of jobs.values()) if (former.jobId === jobId) void former.part.then(job => job?.replaced())
      jobs.set(epoch, { jobId, part: join(entry) })
    },
    onError: onTrouble,
  })
  const policies = watchPolicies(
    connection,
    clock,
    (jobId, { step, version }) => {
      const known = served.get(jobId)
      served.set(jobId, { step, version })
      // A later life of the job writes the same again.
      if (known?.step !== step || known.version !== version) tellPolicy(jobId)
    },
    onTrouble,
  )
  const line = (): WorkerLine => ({
    node,
    host,
    ...own,
    cores: availableParallelism(),
    memoryBytes: totalmem(),
    maxConcurrent: options.maxConcurrent,
    free: draining.aborted ? 0 : credits.free,
    jobs: worksFor(),
    policies: Object.fromEntries([...served].filter(([jobId]) => worksFor().includes(jobId))),
    regions: [...new Set(regions.values())].sort(),
    isDraining: draining.aborted,
  })
  const announced = await announceWorker(connection, line, clock, onTrouble)
  await untilAborted(draining)
  watch.close()
  const joined = await Promise.all([...jobs.values()].map(({ part }) => part))
  await Promise.all(joined.map(job => job?.drain(graceMs())))
  over.abort()
  await announced.close()
  await policies.close()
  links.close()
  await system.stop()
}

/** The coordinator of the first job makes it. */
async function untilBoard(
  connection: NatsConnection,
  { clock, onNews }: ClusterWorkerOptions,
  onTrouble: (error: unknown) => void,
  draining: AbortSignal,
): Promise<void> {
  // It has answered once; servers that choose a leader do not for a while.
  const manager = await jetstreamManager(connection, { checkAPI: false })
  let isTold = false
  while (!draining.aborted) {
    try {
      for (const bucket of [BUCKETS.jobs, BUCKETS.workers, BUCKETS.leases, BUCKETS.policy])
        await manager.streams.info(`KV_${bucket}`)
      return
    } catch (error) {
      if (isMissing(error) && !isTold) {
        isTold = true
        onNews({ type: 'waiting' })
      } else if (!isMissing(error)) onTrouble(error)
    }
    await sleep(clock, LOOK_AGAIN_MS, draining).catch(() => {
      // Only the signal ends the sleep.
    })
  }
}
