import { sleep } from '../clock.ts'
import { type BuildInfo, type EntriesOf, findProblem, toSteps } from './build-steps.ts'
import { type Context, makeUuid } from './context.ts'
import { refused } from './errors.ts'
import { DEFAULT_RESOURCES, type Resources } from './sandbox.ts'

export type SnapshotState = 'pending' | 'building' | 'active' | 'build_failed' | 'removing'

export interface Snapshot {
  readonly id: string
  readonly name: string
  state: SnapshotState
  errorReason: string | null
  readonly resources: Resources
  readonly imageName: string | undefined
  readonly buildInfo: BuildInfo | undefined
  readonly entrypoint: readonly string[] | null
  readonly regionIds: readonly string[]
  readonly general: boolean
  readonly createdAt: number
  updatedAt: number
  lastUsedAt: number | undefined
  readonly log: string[]
  readonly followers: Set<(line: string | undefined) => void>
}

export interface NewSnapshot {
  readonly name: string
  readonly imageName?: string | undefined
  readonly buildInfo?: BuildInfo | undefined
  readonly entrypoint?: readonly string[] | undefined
  readonly regionId: string
  readonly resources: Resources
}

/** There from the start, as the provider's own is; what a create without a snapshot gets. */
export const DEFAULT_SNAPSHOT = 'daytonaio/sandbox'

/**
 * Snapshots are names: nothing is built from a Dockerfile. It is read, so that one that is no Dockerfile, or copies what was never pushed, fails as it
 * would there, with a log. `entriesOf` has the paths in a context that was pushed.
 */
export function makeSnapshots(context: Context, entriesOf: EntriesOf) {
  const { wall, latency, clock, signal, ids, regions } = context
  const snapshots = new Map<string, Snapshot>()
  add({ name: DEFAULT_SNAPSHOT, regionId: regions[0] ?? '', resources: DEFAULT_RESOURCES }, true)

  function add(wanted: NewSnapshot, general: boolean): Snapshot {
    const now = wall.wallTime()
    const snapshot: Snapshot = {
      id: makeUuid(ids),
      name: wanted.name,
      state: general ? 'active' : 'pending',
      errorReason: null,
      resources: wanted.resources,
      imageName: wanted.imageName,
      buildInfo: wanted.buildInfo,
      entrypoint: wanted.entrypoint ?? null,
      regionIds: general ? regions : [wanted.regionId],
      general,
      createdAt: now,
      updatedAt: now,
      lastUsedAt: undefined,
      log: [],
      followers: new Set(),
    }
    snapshots.set(snapshot.id, snapshot)
    return snapshot
  }

  async function build(snapshot: Snapshot): Promise<void> {
    const say = (line: string) => {
      snapshot.log.push(line)
      for (const follow of snapshot.followers) follow(line)
    }
    await sleep(clock, 500, signal)
    snapshot.state = 'building'
    const steps = toSteps(snapshot.buildInfo?.dockerfileContent ?? `FROM ${snapshot.imageName}`)
    const problem = findProblem(snapshot.buildInfo, steps, entriesOf)
    for (const [place, step] of steps.entries()) {
      say(`Step ${place + 1}/${steps.length} : ${step}\n`)
      if (problem?.step === step) break
      await latency.take('build', 1 / steps.length)
    }
    snapshot.errorReason = problem?.reason ?? null
    say(problem === undefined ? 'Successfully built\n' : `ERROR: ${problem.reason}\n`)
    snapshot.state = problem === undefined ? 'active' : 'build_failed'
    snapshot.updatedAt = wall.wallTime()
    for (const follow of snapshot.followers) follow(undefined)
    snapshot.followers.clear()
  }

  return {
    list: () => [...snapshots.values()],
    find(idOrName: string): Snapshot {
      const found = snapshots.get(idOrName) ?? [...snapshots.values()].find(({ name }) => name === idOrName)
      if (found === undefined) throw refused(404, `Snapshot with ID or name ${idOrName} not found`)
      return found
    },
    /** The one that a sandbox is to be made from. */
    usable(name: string, target: string): Snapshot {
      const snapshot = [...snapshots.values()].find(each => each.name === name || each.id === name)
      if (snapshot === undefined)
        throw refused(400, `Snapshot ${name} not found. Did you add it through the Daytona Dashboard?`)
      if (snapshot.state !== 'active') throw refused(400, `Snapshot ${name} is ${snapshot.state}`)
      if (!snapshot.regionIds.includes(target))
        throw refused(400, `Snapshot ${name} is not available in region ${target}`)
      snapshot.lastUsedAt = wall.wallTime()
      return snapshot
    },
    create(wanted: NewSnapshot): Snapshot {
      if ([...snapshots.values()].some(({ name }) => name === wanted.name))
        throw refused(409, `Snapshot with name "${wanted.name}" already exists for this organization`)
      const snapshot = add(wanted, false)
      context.background(build(snapshot))
      return snapshot
    },
    remove(snapshot: Snapshot): void {
      if (snapshot.general) throw refused(403, 'A general snapshot cannot be deleted')
      snapshots.delete(snapshot.id)
    },
  }
}

export type Snapshots = ReturnType<typeof makeSnapshots>

export function toSnapshotDto(snapshot: Snapshot, organizationId: string) {
  const { id, buildInfo } = snapshot
  const createdAt = new Date(snapshot.createdAt).toISOString()
  const updatedAt = new Date(snapshot.updatedAt).toISOString()
  return {
    id,
    organizationId,
    general: snapshot.general,
    name: snapshot.name,
    ...(snapshot.imageName === undefined ? {} : { imageName: snapshot.imageName }),
    state: snapshot.state,
    size: snapshot.state === 'active' ? 0.25 : null,
    entrypoint: snapshot.entrypoint,
    cpu: snapshot.resources.cpu,
    gpu: 0,
    mem: snapshot.resources.memory,
    disk: snapshot.resources.disk,
    errorReason: snapshot.errorReason,
    createdAt,
    updatedAt,
    lastUsedAt: snapshot.lastUsedAt === undefined ? null : new Date(snapshot.lastUsedAt).toISOString(),
    ...(buildInfo === undefined
      ? {}
      : { buildInfo: { ...buildInfo, createdAt, updatedAt, snapshotRef: `daytona-${id}` } }),
    regionIds: snapshot.regionIds,
    sourceSandboxId: null,
    sandboxClass: 'container',
  }
}
