import { type KV, Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { type Clock, sleep } from '../clock.ts'
import { hasTag } from '../errors.ts'
import { badClusterMessage, policyAhead } from './errors.ts'
import { isConflict } from './job-claim.ts'
import { BUCKETS, toToken } from './names.ts'
import { surely } from './publish.ts'

/** What a training serves. */
export interface PolicyVersion {
  /** The step of the training that made it. */
  readonly step: number
  /** As the model's server calls it. */
  readonly version: string
}

/** A job's line in the bucket: its last is what is served, and those before are its history. */
export interface PolicyLine extends PolicyVersion {
  /** Which life of the job's coordinator wrote it. */
  readonly epoch: string
  /** Milliseconds since 1970. */
  readonly at: number
}

export interface PolicyBoardPorts {
  readonly jobId: string
  readonly epoch: string
  /** The newest that the job's journal has. */
  readonly known: PolicyVersion | undefined
  readonly clock: Clock
  /** Ends the trying. */
  readonly signal: AbortSignal
  /** Rejects where the job is another coordinator's. */
  readonly checkClaim: () => Promise<void>
  readonly onTrouble: (error: unknown) => void
}

/** The coordinator's side: the versions of one job. */
export interface PolicyBoard {
  /** Tried until the bucket has it, after those before; given up where the job is another's. */
  put(version: PolicyVersion): void
  /** Resolves when it has all, or when the signal has ended that. */
  flushed(): Promise<void>
}

/**
 * Takes the job's line over for this life. Whoever goes on with an old copy of a journal would train again what has been trained: rejects with `policy-ahead` where the line
 * is of a version that the journal does not know.
 */
export async function openPolicyBoard(connection: NatsConnection, ports: PolicyBoardPorts): Promise<PolicyBoard> {
  const { jobId, epoch, known, clock, checkClaim, onTrouble } = ports
  const bucket = await new Kvm(connection).open(BUCKETS.policy)
  const key = toToken(jobId)
  const found = await bucket.get(key)
  const line = readLine(found)
  const isAhead =
    line !== undefined &&
    (known === undefined || line.step > known.step || (line.step === known.step && line.version !== known.version))
  if (isAhead) throw policyAhead(jobId, line, known)
  /** Of the line that this life has found or written last. */
  let revision = found?.revision ?? 0
  let last = Promise.resolve()

  async function write(version: PolicyVersion): Promise<void> {
    const { step } = version
    const text = JSON.stringify({ epoch, step, version: version.version, at: clock.wallTime() } satisfies PolicyLine)
    try {
      revision = await bucket.put(key, text, { previousSeq: revision })
    } catch (error) {
      if (!isConflict(error)) throw error
      if (!(await isOurs())) return
      const now = await bucket.get(key)
      revision = now?.revision ?? 0
      const there = readLine(now)
      // It was there already, and only its answer was lost; else a former life has just written its last.
      if (there?.epoch !== epoch || there.step !== step) throw error
    }
  }

  async function isOurs(): Promise<boolean> {
    try {
      await checkClaim()
      return true
    } catch (error) {
      if (hasTag(error, 'job-taken-over')) return false
      throw error
    }
  }

  const put = (version: PolicyVersion) => {
    last = last.then(() => surely(ports, () => write(version))).catch(onTrouble)
  }
  if (known !== undefined) put(known)
  return { put, flushed: () => last }
}

type Entry = Awaited<ReturnType<KV['get']>>

/** Undefined where there is none. Throws `bad-cluster-message`. */
function readLine(entry: Entry): PolicyLine | undefined {
  if (entry?.operation !== 'PUT') return undefined
  const { epoch, step, version, at } = parse(entry)
  if (typeof epoch !== 'string' || typeof step !== 'number' || typeof version !== 'string' || typeof at !== 'number')
    throw badClusterMessage(subjectOf(entry), 'it is no version of a policy')
  return { epoch, step, version, at }
}

function parse(entry: NonNullable<Entry>): Partial<Record<keyof PolicyLine, unknown>> {
  try {
    const value: unknown = entry.json()
    return typeof value === 'object' && value !== null ? value : {}
  } catch (error) {
    throw badClusterMessage(subjectOf(entry), 'it is no JSON', error)
  }
}

const subjectOf = ({ bucket, key }: NonNullable<Entry>): string => `$KV.${bucket}.${key}`

const WATCH_AGAIN_MS = 1_000

/** Tells what each job's training serves: what is there, then each new version, until it is closed. */
export function watchPolicies(
  connection: NatsConnection,
  clock: Clock,
  onLine: (jobId: string, line: PolicyLine) => void,
  onError: (error: unknown) => void,
): { close(): Promise<void> } {
  const over = new AbortController()
  let stop = () => {}

  async function watch(): Promise<void> {
    const lines = await (await new Kvm(connection).open(BUCKETS.policy)).watch()
    stop = () => lines.stop()
    if (over.signal.aborted) stop()
    for await (const entry of lines) {
      try {
        const line = readLine(entry)
        if (line !== undefined) onLine(entry.key, line)
      } catch (error) {
        onError(error)
      }
    }
  }

  const watching = (async () => {
    while (!over.signal.aborted) {
      await watch().catch(onError)
      // It ends where its bucket is taken away, or its server does not come back.
      await sleep(clock, WATCH_AGAIN_MS, over.signal).catch(() => {
        // Only the signal ends the sleep.
      })
    }
  })()
  return {
    async close() {
      over.abort()
      stop()
      await watching
    },
  }
}
