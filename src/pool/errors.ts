import { type ErrorData, TroupeError } from '../errors.ts'
import type { LeaseId, SandboxId } from '../ids.ts'

export const leaseTimeout = (leaseId: LeaseId, waitedMs: number, cause: ErrorData | undefined): ErrorData => ({
  tag: 'lease-timeout',
  message: `no sandbox became free within ${Math.round(waitedMs)} ms${cause === undefined ? '' : ` (the last create for it: ${cause.message})`}; raise the sandbox limit or lower the concurrency`,
  address: leaseId,
  transient: true,
  ...(cause === undefined ? {} : { cause }),
})

export const leaseWithdrawn = (leaseId: LeaseId): ErrorData => ({
  tag: 'lease-withdrawn',
  message: 'the request was withdrawn before its turn came',
  address: leaseId,
})

export const leaseRepeated = (leaseId: LeaseId): ErrorData => ({
  tag: 'lease-repeated',
  message: `lease ${leaseId} was asked for twice; give each request an id of its own`,
  address: leaseId,
})

export const ownerGone = (address: string): ErrorData => ({
  tag: 'lease-owner-gone',
  message: `the actor ${address} that asked for the lease is gone`,
  address,
})

export const queueFull = (size: number): ErrorData => ({
  tag: 'pool-queue-full',
  message: `${size} requests already wait for a sandbox; lower the concurrency`,
  transient: true,
})

export const draining = (): ErrorData => ({
  tag: 'pool-draining',
  message: 'the sandbox pool is shutting down and gives out nothing more',
})

export const provisionFailed = (runtime: string, attempts: number, cause: ErrorData): ErrorData => ({
  tag: 'provision-failed',
  message: `the ${runtime} runtime made no sandbox in ${attempts} attempt${attempts === 1 ? '' : 's'}: ${cause.message}`,
  details: { runtime, attempts },
  ...(cause.transient === true ? { transient: true } : {}),
  cause,
})

export const breakerOpen = (runtime: string, failures: number, waitMs: number, cause: ErrorData): ErrorData => ({
  tag: 'pool-breaker-open',
  message: `${failures} creates in a row failed on the ${runtime} runtime, the last with: ${cause.message}; the next is tried in ${Math.ceil(waitMs)} ms`,
  details: { runtime, failures, retryAfterMs: Math.ceil(waitMs) },
  cause,
})

export const provisionTimeout = (id: SandboxId, afterMs: number): TroupeError =>
  new TroupeError({
    tag: 'provision-timeout',
    message: `sandbox ${id} was not ready within ${afterMs} ms; its create was given up and cleaned up`,
    address: id,
    transient: true,
  })

export const provisionStuck = (id: SandboxId, afterMs: number): TroupeError =>
  new TroupeError({
    tag: 'provision-stuck',
    message: `the create of sandbox ${id} neither ended nor could be given up within ${afterMs} ms; it may still exist`,
    address: id,
    transient: true,
  })

export const disposeTimeout = (id: SandboxId, afterMs: number): TroupeError =>
  new TroupeError({
    tag: 'dispose-timeout',
    message: `the delete of sandbox ${id} was not confirmed within ${afterMs} ms`,
    address: id,
  })

export const quarantined = (id: SandboxId, attempts: number, cause: ErrorData): ErrorData => ({
  tag: 'sandbox-quarantined',
  message: `sandbox ${id} may still exist after ${attempts} attempts to delete it (${cause.message}); delete it at its provider`,
  address: id,
  details: { attempts },
  cause,
})

export const poolExhausted = (limit: number): ErrorData => ({
  tag: 'pool-exhausted',
  message: `all ${limit} sandboxes that the pool may hold could not be deleted; delete them at their provider and start again`,
  details: { limit },
})

/** A broken invariant of the pool itself, never the fault of a runtime. */
export const ledgerBroken = (message: string): TroupeError => new TroupeError({ tag: 'sandbox-ledger-broken', message })

export const noForks = (runtime: string, cause: ErrorData): ErrorData => ({
  tag: 'forks-unsupported',
  message: `the ${runtime} runtime cannot fork its sandboxes (${cause.message}); each is created anew instead`,
  details: { runtime },
  cause,
})

export const providerPoolRefused = (runtime: string, size: number, cause: ErrorData): ErrorData => ({
  tag: 'provider-pool-refused',
  message: `the ${runtime} runtime holds no pool of ${size} sandboxes (${cause.message}); each is created anew instead`,
  details: { runtime, size },
  cause,
})

export const providerPoolLeft = (runtime: string, cause: ErrorData): ErrorData => ({
  tag: 'provider-pool-left',
  message: `the pool that the ${runtime} runtime's provider keeps may still exist and cost money (${cause.message}); delete it there, or with troupe reap`,
  details: { runtime },
  cause,
})

export const poolCallTimeout = (what: 'hold' | 'count' | 'drop', afterMs: number): TroupeError =>
  new TroupeError({
    tag: 'provider-pool-timeout',
    message: `the provider did not ${what} its pool within ${afterMs} ms`,
    details: { what, afterMs },
    transient: true,
  })
