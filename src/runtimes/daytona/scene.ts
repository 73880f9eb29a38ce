import { bounded, untilAborted } from '../../bounded.ts'
import { fromErrorData } from '../../errors.ts'
import { toOwnerWord } from '../../owner.ts'
import type { Task } from '../../taskset/task.ts'
import { kindOfRow } from '../configure.ts'
import { withRunLimit } from '../run-limit.ts'
import type { ProviderPool, ProvisionPlan, ProvisionRequest, Sandbox, ShareCreates } from '../runtime.ts'
import type { Account } from './account/account.ts'
import { openAccount } from './account/open-account.ts'
import { checkRegion } from './account/regions.ts'
import { leftBehind, noCommand } from './errors.ts'
import { toProviderLabels } from './labels.ts'
import type { LateBucket } from './late-bucket.ts'
import { makeProviderPool } from './provider-pool/index.ts'
import { makeReach } from './reach/index.ts'
import { makeBackstop, touchSandbox } from './sandbox/backstop.ts'
import { listOurs, type OurSandbox } from './sandbox/list-ours.ts'
import type { Resources } from './sandbox/new-sandbox.ts'
import { type ProvisionPorts, provision } from './sandbox/provision.ts'
import { makeStrays } from './sandbox/strays.ts'
import type { DaytonaSettings } from './settings.ts'
import { checkQuota, ensureSnapshot, makeImageSnapshots, type ReadySnapshot } from './snapshot/index.ts'
import { toTaskSettings } from './task-settings.ts'

/** What a runtime can do once its account is open and its snapshot is there. */
export interface Scene {
  /** Finds or builds the snapshots of the images that tasks name. */
  prepare(tasks: readonly Task[]): Promise<void>
  checkQuota(plan: ProvisionPlan): Promise<void>
  provision(request: ProvisionRequest): Promise<Sandbox>
  list(): Promise<readonly OurSandbox[]>
  /** See `Runtime`. */
  reap(owners: readonly string[], job: string | undefined): Promise<number>
  makePool(): ProviderPool
  /**
   * Ends what is under way, deletes what exists, and lets go of the account. Rejects with `daytona-left-behind`, naming what may still exist. To be called
   * once `closing` has aborted.
   */
  close(pool: ProviderPool): Promise<void>
}

/** For provisions under way, then for deletes, when everything ends. */
const CLOSE_MS = 30_000

interface ScenePorts extends Pick<ProvisionPorts, 'lives' | 'closing'> {
  readonly creates: LateBucket
  readonly share: ShareCreates | undefined
}

/** Rejects with what is missing: a key, a region, a snapshot, a command. Nothing stays open then. */
export async function openScene(
  settings: DaytonaSettings,
  { creates, share, lives, closing }: ScenePorts,
): Promise<Scene> {
  const account = await openShared(settings, share)
  try {
    account.events.connect()
    // The region first: a snapshot that is built in none cannot be used.
    await checkRegion(account)
    const { snapshot: name, image, resources, onBuildLog } = settings
    const snapshot = await ensureSnapshot(account, { name, image, resources, onBuildLog, signal: closing })
    const command = settings.command ?? snapshot.command
    if (command === undefined) throw noCommand(snapshot.name)
    creates.attach(account.creates)
    return makeScene(settings, snapshot, {
      ...toPorts(settings, account, snapshot),
      serve: { command, variables: settings.variables },
      lives,
      closing,
    })
  } catch (error) {
    await account.release()
    throw error
  }
}

/** The account, with the part of its limit that is shared with other machines for as long as it is held here. */
async function openShared(settings: DaytonaSettings, share: ShareCreates | undefined): Promise<Account> {
  const { apiKey, apiUrl, region, clock } = settings
  const account = await openAccount({ apiKey, apiUrl, region, clock })
  if (share === undefined) return account
  const leave = account.creates.join(share(account.word))
  return {
    ...account,
    release() {
      leave()
      return account.release()
    },
  }
}

function makeScene(settings: DaytonaSettings, snapshot: ReadySnapshot, ports: ProvisionPorts): Scene {
  const { account, closing, kind, lives, reach, strays } = ports
  const { clock } = account
  const works = new Set<Promise<unknown>>()
  const snapshots = makeImageSnapshots(account, settings, closing)

  /** As the runtime makes the others, but for what the row says. */
  async function toTaskPorts(task: Task): Promise<ProvisionPorts> {
    const { image, resources, startDeadlineMs } = toTaskSettings(settings, task)
    if (image === undefined)
      return { ...ports, startDeadlineMs, kind: { ...kind, resources: toOwnResources(resources, snapshot) } }
    const own = await snapshots.obtain(image, resources)
    return {
      ...ports,
      startDeadlineMs,
      kind: { ...kind, snapshot: own.name, resources: toOwnResources(resources, own) },
    }
  }

  async function make(request: ProvisionRequest): Promise<Sandbox> {
    const { task } = request
    if (task === undefined || kindOfRow(task) === undefined) return provision(ports, request)
    const own = await untilAborted(toTaskPorts(task), request.signal)
    const limitS = toTaskSettings(settings, task).runLimitS
    return withRunLimit(request, { clock, limitS }, asked => provision(own, asked))
  }

  const obstacle = kind.resources === undefined ? undefined : 'its sandboxes have other resources than their snapshot'
  return {
    async prepare(tasks) {
      for (const task of tasks) await toTaskPorts(task)
    },
    checkQuota: plan =>
      checkQuota(account, { ...snapshot, resources: { ...snapshot.resources, ...kind.resources } }, plan),
    provision(request) {
      const work = make(request)
      works.add(work)
      return work.finally(() => works.delete(work))
    },
    list: () => listOurs(account, [snapshot.name, ...snapshots.names()]),
    async reap(owners, job) {
      const { findLeftovers, removeLeftovers } = await import('./reap/index.ts')
      const found = await findLeftovers(account, { owners, job })
      const [failure] = await removeLeftovers(account, found)
      if (failure !== undefined) throw fromErrorData(failure.problem)
      return found.length
    },
    makePool: () =>
      makeProviderPool(account, {
        snapshot: async () => snapshot,
        obstacle: () => obstacle,
        labels: () => toProviderLabels({ owner: toOwnerWord() }),
        clock,
        autoStopMinutes: settings.autoStopMinutes,
      }),
    async close(pool) {
      await bounded(clock, CLOSE_MS, () => Promise.allSettled(works))
      const [dropped, unfound, ...removed] = await Promise.all([
        bounded(clock, CLOSE_MS, () => pool.drop()),
        bounded(clock, CLOSE_MS, () => strays.close()),
        ...[...lives.values()].map(live => bounded(clock, CLOSE_MS, () => live.remove())),
      ])
      await reach.close()
      await account.release()
      const names = [
        ...[...lives.values()].map(({ name }) => name),
        ...(unfound.kind === 'ended' ? unfound.value : ['what was created without an answer']),
        ...(dropped.kind === 'ended' ? [] : [`the provider's pool of ${snapshot.name}`]),
      ]
      const causes = [dropped, ...removed].flatMap(end => (end.kind === 'failed' ? [end.error] : []))
      if (names.length > 0) throw leftBehind(names, causes[0])
    },
  }
}

function toPorts(
  settings: DaytonaSettings,
  account: Account,
  snapshot: ReadySnapshot,
): Omit<ProvisionPorts, 'serve' | 'lives' | 'closing'> {
  const { autoStopMinutes, clock, onStages, port, startDeadlineMs, transport } = settings
  const { region } = account
  return {
    account,
    reach: makeReach(account, { port, transport, clock }),
    backstop: makeBackstop({ clock, autoStopMinutes, touch: id => touchSandbox(account, id) }),
    strays: makeStrays(account),
    kind: {
      snapshot: snapshot.name,
      region,
      autoStopMinutes,
      resources: toOwnResources(settings.resources ?? {}, snapshot),
    },
    startDeadlineMs,
    onStages,
  }
}

/** What a create has to ask for, because the snapshot has something else. */
function toOwnResources(wanted: Resources, { resources: given }: ReadySnapshot): Resources | undefined {
  const names = ['cpu', 'memory', 'disk'] as const
  const differs = names.some(name => wanted[name] !== undefined && wanted[name] !== given[name])
  return differs || wanted.gpu !== undefined ? wanted : undefined
}
