import { type ErrorData, TroupeError } from '../../../errors.ts'

export const claimImpossible = (snapshot: string, obstacle: string): TroupeError =>
  new TroupeError({
    tag: 'claim-impossible',
    address: snapshot,
    message: `sandboxes of ${snapshot} can never be claimed from a pool of the provider: ${obstacle}. A claim needs the snapshot's own resources and no variables, volumes or secrets in the create; leave those out, or use another pool strategy.`,
    details: { obstacle },
  })

export const poolHeld = (place: string, owner: string, here: boolean): TroupeError =>
  new TroupeError({
    tag: 'pool-held',
    address: place,
    message: here
      ? `another engine of this process holds the provider's pool for ${place}, and there is one for each snapshot and region. Close it first, give both engines one runtime, or use another pool strategy for this one.`
      : `${owner} holds the provider's pool for ${place}, and there is one for each snapshot and region. Wait until it ends or use another pool strategy; if it is dead, \`troupe reap --owner '${owner}' --delete\` frees the pool.`,
    details: { owner },
  })

export const poolOwnerless = (place: string, id: string): TroupeError =>
  new TroupeError({
    tag: 'pool-held',
    address: place,
    message: `the provider has a pool for ${place} (${id}) that nothing says is ours: somebody may have made it by hand. Delete it there, or with \`troupe reap --ownerless --delete\` if the snapshot is one that was built here; or use another pool strategy, whose creates claim from it anyway.`,
    details: { pool: id },
  })

export const poolContested = (place: string): TroupeError =>
  new TroupeError({
    tag: 'pool-contested',
    address: place,
    message: `the provider's pool for ${place} keeps appearing and disappearing: others make and drop it at the same time. Try again when they are done, or use another pool strategy.`,
    transient: true,
  })

export const poolNotEnabled = (place: string, cause: unknown): TroupeError =>
  new TroupeError(
    {
      tag: 'pool-not-enabled',
      address: place,
      message: `the provider refuses a pool for ${place}: pools must be enabled for the organisation, and the key must be allowed to change them. Ask the provider, or use the pool strategy prewarm.`,
    },
    cause,
  )

export const poolDropped = (snapshot: string): TroupeError =>
  new TroupeError({
    tag: 'pool-dropped',
    address: snapshot,
    message: `the provider's pool for ${snapshot} has been let go of; make a new runtime to hold one again`,
  })

/** The provider gave up on filling a pool. */
export const poolFailing = (place: string, reason: string, id: string): ErrorData => ({
  tag: 'pool-failing',
  address: place,
  message: `the provider cannot fill its pool for ${place}: ${reason}. Where a limit was exceeded, ask for a smaller pool or free sandboxes (\`troupe reap\` lists what was left behind); creates go on without the pool.`,
  details: { reason, pool: id },
})

export const anchorLost = (id: string, cause: ErrorData): ErrorData => ({
  tag: 'anchor-lost',
  address: id,
  message: `the sandbox ${id}, which says whose a pool is, cannot be kept alive: ${cause.message}. If this process is killed now, \`troupe reap\` needs --ownerless to find the pool.`,
  cause,
})

export const membersLeft = (place: string, ids: readonly string[]): TroupeError =>
  new TroupeError({
    tag: 'sandboxes-left',
    address: place,
    message: `${ids.length} ${ids.length === 1 ? 'sandbox' : 'sandboxes'} of the provider's pool for ${place} would not go: ${ids.slice(0, 4).join(', ')}${ids.length > 4 ? ', …' : ''}. They may cost money; \`troupe reap\` finds them once this process has ended.`,
    details: { ids },
  })
