import { bounded, untilAborted } from '../../bounded.ts'
import { fromErrorData, toErrorData } from '../../errors.ts'
import { randomIds } from '../../ids.ts'
import { noteSecret } from '../../redact.ts'
import type { Task } from '../../taskset/task.ts'
import { publish } from '../../telemetry/channels.ts'
import { makeControlClient } from '../../wire/client.ts'
import { withRunLimit } from '../run-limit.ts'
import type { ProvisionRequest, Sandbox } from '../runtime.ts'
import type { LiveContainer } from './container/live-container.ts'
import { type ProvisionPorts, provision } from './container/provision.ts'
import { readEngineAddress } from './engine/address.ts'
import { type Engine, openEngine } from './engine/engine.ts'
import { leftBehind, remoteEngine, sweptUp } from './errors.ts'
import { makeImages } from './image/images.ts'
import { fromEngineLabels, SANDBOX_LABEL } from './labels.ts'
import { findLeftovers, removeLeftovers } from './reap.ts'
import type { DockerSettings } from './settings.ts'
import { toTaskSettings } from './task-settings.ts'

/** A container that has our labels. */
export interface OurContainer {
  /** Our id. */
  readonly id: string
  readonly labels: Readonly<Record<string, string>>
}

/** What a runtime can do once its engine has answered and its image is there. */
export interface Scene {
  /** Finds, pulls or builds the images that the tasks' sandboxes are made from; without tasks the runtime's own. */
  prepare(tasks: readonly Task[] | undefined): Promise<void>
  provision(request: ProvisionRequest): Promise<Sandbox>
  list(): Promise<readonly OurContainer[]>
  /** See `Runtime`. */
  reap(owners: readonly string[], job: string | undefined): Promise<number>
  /** Ends what is under way and removes what exists. Rejects with `docker-left-behind`. To be called once `closing` has aborted. */
  close(): Promise<void>
}

/** For provisions under way, then for removals, when everything ends. */
const CLOSE_MS = 40_000
const LOOPBACK = '127.0.0.1'

/** Rejects where no engine answers. Nothing is made. */
export async function openScene(
  settings: DockerSettings,
  { lives, closing }: Pick<ProvisionPorts, 'lives' | 'closing'>,
): Promise<Scene> {
  const address = readEngineAddress(settings.host, process.env)
  if (!address.isHere && settings.publishOn === undefined) throw remoteEngine(address)
  const engine = await openEngine(address, settings.clock)
  try {
    await sweepUp(engine)
    return makeScene(settings, engine, { lives, closing })
  } catch (error) {
    engine.close()
    throw error
  }
}

function makeScene(
  settings: DockerSettings,
  engine: Engine,
  { lives, closing }: Pick<ProvisionPorts, 'lives' | 'closing'>,
): Scene {
  const { clock, publishOn = LOOPBACK, withToken } = settings
  const token = withToken ? randomIds.hex(24) : undefined
  noteSecret(token)
  const client = makeControlClient({ clock })
  const images = makeImages(engine, settings, closing)
  const works = new Set<Promise<unknown>>()

  async function make(request: ProvisionRequest): Promise<Sandbox> {
    const { source, gpus, memoryBytes, cpus, runLimitS, ...limits } = toTaskSettings(settings, request.task)
    const image = await untilAborted(images.obtain(source), request.signal)
    const own = {
      ...settings,
      ...(memoryBytes === undefined ? {} : { memoryBytes }),
      ...(cpus === undefined ? {} : { cpus }),
    }
    const kind = { ...own, image: image.id, publishOn, token, gpus }
    const ports = { engine, kind, client, ...limits, lives, closing }
    return withRunLimit(request, { clock, limitS: runLimitS }, asked => provision(ports, asked))
  }

  return {
    async prepare(tasks) {
      const sources = tasks === undefined ? [settings.source] : tasks.map(task => toTaskSettings(settings, task).source)
      // One after the other: each is a download or a build, and the engine does no two faster than one.
      for (const source of sources) await images.obtain(source)
    },
    provision(request) {
      const work = make(request)
      works.add(work)
      return work.finally(() => works.delete(work))
    },
    async list() {
      if (images.ids().size === 0) await images.obtain(settings.source)
      return listOurs(engine, images.ids())
    },
    async reap(owners, job) {
      const found = await findLeftovers(engine, { owners, job })
      const [failure] = await removeLeftovers(engine, found)
      if (failure !== undefined) throw fromErrorData(failure.problem)
      return found.length
    },
    async close() {
      await bounded(clock, CLOSE_MS, () => Promise.allSettled(works))
      await client.close()
      const ends = await Promise.all([...lives].map(live => bounded(clock, CLOSE_MS, () => live.remove())))
      engine.close()
      const causes = ends.flatMap(end => (end.kind === 'failed' ? [end.error] : []))
      if (lives.size > 0) throw leftBehind(toNames(lives), causes[0])
    },
  }
}

const toNames = (lives: Iterable<LiveContainer>): readonly string[] => [...lives].map(({ name }) => name)

async function listOurs({ ask, docker }: Engine, images: ReadonlySet<string>): Promise<readonly OurContainer[]> {
  const filters = { label: [SANDBOX_LABEL] }
  const found = await ask('list its containers', abortSignal =>
    docker.listContainers({ all: true, filters, abortSignal }),
  )
  return found
    .filter(({ ImageID }) => images.has(ImageID))
    .map(({ Labels }) => ({ id: Labels[SANDBOX_LABEL] ?? '', labels: fromEngineLabels(Labels) }))
}

/** Removes what engines left that are seen to be dead. What goes wrong with that is told, and keeps nobody from working. */
async function sweepUp(engine: Engine): Promise<void> {
  try {
    const dead = (await findLeftovers(engine)).filter(({ standing }) => standing === 'dead')
    const failures = await removeLeftovers(engine, dead)
    for (const { problem } of failures) publish('sandbox', problem)
    const gone = dead.filter(each => failures.every(({ leftover }) => leftover !== each))
    if (gone.length > 0)
      publish(
        'sandbox',
        sweptUp(
          gone.map(({ name }) => name),
          engine.address,
        ),
      )
  } catch (error) {
    publish('sandbox', toErrorData(error))
  }
}
