import type { SnapshotDto } from '@daytona/api-client'
import { untilAborted } from '../../../bounded.ts'
import { sleep } from '../../../clock.ts'
import type { TroupeError } from '../../../errors.ts'
import type { Account } from '../account/account.ts'
import { callDaytona, toCallError } from '../account/call.ts'
import { patiently } from '../account/patience.ts'
import { type BuildLog, makeBuildLog } from './build-log.ts'
import { snapshotBuildFailed, snapshotNotSent, snapshotWaitTimeout } from './errors.ts'
import { deleteSnapshot, lookUp } from './look.ts'
import type { Recipe, WantedResources } from './recipe.ts'

export interface BuildRequest {
  readonly name: string
  readonly recipe: Recipe
  readonly resources: WantedResources
  readonly onLine: (line: string) => void
  readonly signal: AbortSignal | undefined
}

const LOOK_EVERY_MS = 1_000
/** A first build took 74 s where that was published. */
const MAX_WAIT_MS = 30 * 60_000

/**
 * The snapshot of that name, found or built, and active. What somebody else is building is waited for. A failure from before this call is deleted and
 * built anew; one during it is told, whoever's it was: `snapshot-build-failed`. Rejects with `snapshot-wait-timeout` after half an hour, or with the
 * signal's reason; a build that has begun goes on then, and is found by the next call.
 */
export async function obtainSnapshot(
  account: Account,
  request: BuildRequest,
): Promise<{ readonly snapshot: SnapshotDto; readonly built: boolean }> {
  const limit = new AbortController()
  const state = { last: 'not there' }
  const cancel = account.clock.after(MAX_WAIT_MS, () =>
    limit.abort(snapshotWaitTimeout(request.name, state.last, MAX_WAIT_MS)),
  )
  const signal = AbortSignal.any([limit.signal, ...(request.signal === undefined ? [] : [request.signal])])
  const log = makeBuildLog(account, request.onLine)
  try {
    return await obtain(account, { ...request, signal }, log, state)
  } finally {
    cancel()
    log.close()
  }
}

async function obtain(
  account: Account,
  request: BuildRequest & { readonly signal: AbortSignal },
  log: BuildLog,
  state: { last: string },
): Promise<{ readonly snapshot: SnapshotDto; readonly built: boolean }> {
  const { name, signal } = request
  let built = false
  for (let first = true; ; first = false) {
    signal.throwIfAborted()
    const found = await lookUp(account, name)
    state.last = found?.state ?? 'not there'
    if (found === undefined) {
      // The SDK's own client gives up at the first fault. A second build of one name finds the first.
      const send = () => patiently(account, () => build(account, request, log), { idempotent: true, signal })
      built = await untilAborted(send(), signal)
      continue
    }
    switch (found.state) {
      case 'active':
        await log.end()
        return { snapshot: found, built }
      case 'build_failed':
      case 'error':
        if (first) await deleteSnapshot(account, found)
        else throw await toFailure(request, found, log)
        continue
      case 'inactive':
        await callDaytona(`activate the snapshot ${name}`, () => account.snapshots.activateSnapshot(found.id))
        break
      case 'removing':
        break
      default:
        log.follow(found)
    }
    await sleep(account.clock, LOOK_EVERY_MS, signal)
  }
}

/** Sends the context and follows the build to its end, whichever that is. False when somebody else was faster. */
async function build(
  account: Account,
  { name, recipe: { image }, resources, signal }: BuildRequest,
  log: BuildLog,
): Promise<boolean> {
  const { snapshot: service } = await account.sdk()
  // The SDK's create cannot be called off; but it looks at the state through this.
  const watched: typeof service = Object.create(service, {
    get: {
      value: async (id: string) => {
        signal?.throwIfAborted()
        const snapshot = await service.get(id)
        log.follow(snapshot)
        return snapshot
      },
    },
  })
  try {
    await watched.create({ name, image, resources: { ...resources } })
    return true
  } catch (error) {
    signal?.throwIfAborted()
    // It may have been made all the same: by somebody else, by a call whose answer was lost, or to end in a failure that is told with its log.
    if ((await lookUp(account, name)) !== undefined) return false
    const failure = toCallError(`build the snapshot ${name}`, error)
    throw failure === error ? snapshotNotSent(name, error) : failure
  }
}

async function toFailure({ name, recipe }: BuildRequest, found: SnapshotDto, log: BuildLog): Promise<TroupeError> {
  log.follow(found)
  const patternLines = [...new Set(recipe.patterns.map(({ line }) => line))]
  return snapshotBuildFailed({ name, reason: found.errorReason, log: await log.end(), patternLines })
}
