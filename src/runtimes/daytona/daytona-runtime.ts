import { setMaxListeners } from 'node:events'
import { untilAborted } from '../../bounded.ts'
import type { ErrorData } from '../../errors.ts'
import type { SandboxId } from '../../ids.ts'
import type { Task } from '../../taskset/task.ts'
import { kindOfRow } from '../configure.ts'
import { provisionCancelled, runtimeClosed } from '../errors.ts'
import type {
  ConfiguredTask,
  ProviderPool,
  ProvisionPlan,
  ProvisionRequest,
  Runtime,
  Sandbox,
  ShareCreates,
} from '../runtime.ts'
import type { TokenBucket } from '../token-bucket.ts'
import { toRegion } from './account/region.ts'
import { type LateBucket, makeLateBucket } from './late-bucket.ts'
import { makeLatePool } from './late-pool.ts'
import type { DaytonaRuntimeOptions } from './options.ts'
import type { LiveSandbox } from './sandbox/live-sandbox.ts'
import type { Scene } from './scene.ts'
import { type DaytonaSettings, toDaytonaSettings } from './settings.ts'
import { configureTask } from './task-settings.ts'

/**
 * Sandboxes at Daytona, all made from one snapshot, each with an environment's server of its own. Nothing is asked of the provider before the preflight or
 * the first sandbox, and neither its client nor what else this takes is loaded before. Throws `daytona-bad-option`.
 */
export class DaytonaRuntime implements Runtime {
  readonly name = 'daytona'
  readonly forks = true
  readonly providerPool: ProviderPool
  readonly #creates: LateBucket = makeLateBucket()
  readonly #settings: DaytonaSettings
  readonly #lives = new Map<SandboxId, LiveSandbox>()
  readonly #closing = new AbortController()
  /** The largest plan that the account was found to hold. */
  #sandboxesChecked = 0
  #share: ShareCreates | undefined
  #scene: Promise<Scene> | undefined
  #closed: Promise<void> | undefined

  constructor(snapshot: string, options: DaytonaRuntimeOptions = {}) {
    this.#settings = toDaytonaSettings(snapshot, options)
    this.providerPool = makeLatePool(async () => (await this.#open()).makePool())
    setMaxListeners(0, this.#closing.signal) // one for each sandbox under way
  }

  get region(): string | undefined {
    return toRegion(this.#settings.region)
  }

  get creates(): TokenBucket {
    return this.#creates
  }

  shareCreates(share: ShareCreates): void {
    this.#share = share
  }

  /**
   * Opens the account, and finds or builds the snapshot. Rejects with `daytona-no-key`, `daytona-unauthorized`, `daytona-region-unknown`,
   * `daytona-no-command`, or with what is wrong with the snapshot; with a plan, also where the account cannot hold what is planned, or where an image that a
   * task names makes no snapshot.
   */
  async preflight(plan?: ProvisionPlan): Promise<void> {
    const scene = await this.#open()
    await scene.prepare(plan?.tasks ?? [])
    // Again only for more: what is in use later includes what was planned.
    if (plan === undefined || plan.sandboxes <= this.#sandboxesChecked) return
    await scene.checkQuota({ ...plan, sandboxes: plan.sandboxes - this.#lives.size })
    this.#sandboxesChecked = plan.sandboxes
  }

  kindOf(task: Task): string | undefined {
    return kindOfRow(task)
  }

  configure(task: Task): ConfiguredTask {
    return configureTask(this.#settings, task)
  }

  async provision(request: ProvisionRequest): Promise<Sandbox> {
    const { id, signal } = request
    if (signal.aborted) throw provisionCancelled(id, signal.reason)
    const scene = await untilAborted(this.#open(), signal)
    return scene.provision(request)
  }

  async diagnose(id: SandboxId): Promise<ErrorData | undefined> {
    return this.#lives.get(id)?.diagnose()
  }

  async list() {
    return (await this.#open()).list()
  }

  async reap(owners: readonly string[], job?: string): Promise<number> {
    return (await this.#open()).reap(owners, job)
  }

  /** Deletes what it has made and still exists. Rejects with `daytona-left-behind`, naming what may be left. */
  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #close(): Promise<void> {
    this.#closing.abort(runtimeClosed(this.name))
    const scene = await this.#scene?.catch(() => undefined) // what did not open is not to be closed
    await scene?.close(this.providerPool)
  }

  #open(): Promise<Scene> {
    if (this.#closing.signal.aborted) return Promise.reject(runtimeClosed(this.name))
    this.#scene ??= this.#load().catch(error => {
      this.#scene = undefined // may be mended by the next time
      throw error
    })
    return this.#scene
  }

  async #load(): Promise<Scene> {
    const { openScene } = await import('./scene.ts')
    const { signal: closing } = this.#closing
    return openScene(this.#settings, { creates: this.#creates, share: this.#share, lives: this.#lives, closing })
  }
}
