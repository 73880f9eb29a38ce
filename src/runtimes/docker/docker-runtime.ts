import { setMaxListeners } from 'node:events'
import { untilAborted } from '../../bounded.ts'
import type { ErrorData } from '../../errors.ts'
import type { SandboxId } from '../../ids.ts'
import type { Task } from '../../taskset/task.ts'
import { kindOfRow } from '../configure.ts'
import { provisionCancelled, runtimeClosed } from '../errors.ts'
import type { ConfiguredTask, ProvisionPlan, ProvisionRequest, Runtime, Sandbox } from '../runtime.ts'
import type { LiveContainer } from './container/live-container.ts'
import type { DockerRuntimeOptions } from './options.ts'
import type { Scene } from './scene.ts'
import { type DockerSettings, toDockerSettings } from './settings.ts'
import { configureTask } from './task-settings.ts'

/**
 * A container for each sandbox, at a Docker engine, all made from one image but for those of tasks that name another, each with an environment's server of its own. Nothing is asked of the engine before
 * the preflight or the first sandbox, and its client library is not loaded before. Throws `docker-bad-option`.
 */
export class DockerRuntime implements Runtime {
  readonly name = 'docker'
  readonly #settings: DockerSettings
  readonly #lives = new Set<LiveContainer>()
  readonly #closing = new AbortController()
  #scene: Promise<Scene> | undefined
  #closed: Promise<void> | undefined

  constructor(options: DockerRuntimeOptions = {}) {
    this.#settings = toDockerSettings(options)
    setMaxListeners(0, this.#closing.signal) // one for each sandbox under way
  }

  /**
   * Sees that an engine answers, finds, pulls or builds the images of the plan's tasks (without a plan its own), and removes what dead engines left. Rejects with `docker-no-engine`, `docker-bad-host`,
   * `docker-engine-elsewhere`, `docker-pull-failed`, `docker-build-failed`, `docker-no-command`, or with what is wrong with the Dockerfile.
   */
  async preflight(plan?: ProvisionPlan): Promise<void> {
    await (await this.#open()).prepare(plan?.tasks)
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
    return [...this.#lives].find(live => live.id === id)?.diagnose()
  }

  /** Containers of these images, whoever's they are. */
  async list() {
    return (await this.#open()).list()
  }

  async reap(owners: readonly string[], job?: string): Promise<number> {
    return (await this.#open()).reap(owners, job)
  }

  /** Removes what it has made and still exists. Rejects with `docker-left-behind`, naming what may be left. */
  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #close(): Promise<void> {
    this.#closing.abort(runtimeClosed(this.name))
    const scene = await this.#scene?.catch(() => undefined) // what did not open is not to be closed
    await scene?.close()
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
    return openScene(this.#settings, { lives: this.#lives, closing: this.#closing.signal })
  }
}
