/** What streams, buckets and subjects are called. `deploy/nats` gives each role its part of them. */

export const STREAMS = { plans: 'TROUPE_PLANS', results: 'TROUPE_RESULTS', dead: 'TROUPE_DEAD' } as const

export const BUCKETS = {
  /** Which jobs look for workers, by job. */
  jobs: 'troupe-jobs',
  /** Who works, by worker. */
  workers: 'troupe-workers',
  /** Trajectories that are too large for a message. */
  trajectories: 'troupe-trajectories',
  /** Which process may have sandboxes of a job, by job and worker: it outlives both. */
  leases: 'troupe-leases',
  /** Which version of the policy a training serves, by job, with those before. */
  policy: 'troupe-policy',
} as const

/** A word as one token of a subject, and as a part of a consumer's name. Ids of jobs, groups and runs are such already. */
export function toToken(word: string): string {
  return word.replaceAll(/[^\w-]/g, '_')
}

export const plansOf = (job: string): string => `troupe.plans.${toToken(job)}`
export const resultsOf = (job: string, worker: string): string => `troupe.results.${toToken(job)}.${toToken(worker)}`
export const allResultsOf = (job: string): string => `troupe.results.${toToken(job)}.*`
export const deadOf = (job: string): string => `troupe.dead.${toToken(job)}`
const WORKER_NODE = 'worker-'
/** What a worker's node is called; `id` tells several of one host apart. A coordinator's begins with its job's id, which is never like it. */
export const workerNode = (host: string, id: string): string => toToken(`${WORKER_NODE}${host}-${id}`)
/** What is sent to one node's actors. By its kind, so that permissions can keep workers from what is sent to coordinators, and from speaking to each other. */
export const nodeSubject = (node: string): string =>
  `troupe.node.${node.startsWith(WORKER_NODE) ? 'worker' : 'coordinator'}.${toToken(node)}`
/** Where coordinators tell of their jobs. */
export const JOBS_SUBJECT = 'troupe.jobs'
/** Where coordinators tell each other which of them keeps the limits of accounts. */
export const LIMITS_SUBJECT = 'troupe.limits'
/** One life of a job's coordinator. */
export interface JobLife {
  readonly jobId: string
  /** Greater than that of each life before: see `claimJob`. */
  readonly life: number
}
/** The consumer of a job's plans, which all workers share, and of its results, which the coordinator has. Of one life: another's takes nothing of it. */
export const plansConsumer = ({ jobId, life }: JobLife): string => `plans-${toToken(jobId)}-${life}`
export const resultsConsumer = ({ jobId, life }: JobLife): string => `results-${toToken(jobId)}-${life}`
/** Which life of the job a consumer is of; undefined where it is none of that job's. */
export function lifeOf(consumer: string, jobId: string): number | undefined {
  const [, kind, token, life] = /^(plans|results)-(.+)-(\d+)$/.exec(consumer) ?? []
  return kind !== undefined && token === toToken(jobId) ? Number(life) : undefined
}
/** Where the server tells that a plan was given out as often as may be. */
export const exhaustedOf = (of: JobLife): string =>
  `$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES.${STREAMS.plans}.${plansConsumer(of)}`
