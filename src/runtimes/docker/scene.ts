import { bounded } from '../../bounded.ts'
import { toErrorData } from '../../errors.ts'
import { randomIds } from '../../ids.ts'
import { noteSecret } from '../../redact.ts'
import { publish } from '../../telemetry/channels.ts'
import { makeControlClient } from '../../wire/client.ts'
import type { ProvisionRequest, Sandbox } from '../runtime.ts'
import type { LiveContainer } from './container/live-container.ts'
import { type ProvisionPorts, provision } from './container/provision.ts'
import { readEngineAddress } from './engine/address.ts'
import { type Engine, openEngine } from './engine/engine.ts'
import { leftBehind, remoteEngine, sweptUp } from './errors.ts'
import { obtainImage, type ReadyImage } from './image/obtain.ts'
import { fromEngineLabels, SANDBOX_LABEL } from './labels.ts'
import { findLeftovers, removeLeftovers } from './reap.ts'
import type { DockerSettings } from './settings.ts'

/** A container that has our labels. */
export interface OurContainer {
  /** Our id. */
  readonly id: string
  readonly labels: Readonly<Record<string, string>>
}

/** What a runtime can do once its engine has answered and its image is there. */
export interface Scene {
  provision(request: ProvisionRequest): Promise<Sandbox>
  list(): Promise<readonly OurContainer[]>
  /** Ends what is under way and removes what exists. Rejects with `docker-left-behind`. To be called once `closing` has aborted. */
  close(): Promise<void>
}

/** For provisions under way, then for removals, when everything ends. */
const CLOSE_MS = 40_000
const LOOPBACK = '127.0.0.1'

/** Rejects with what is missing: an engine, a Dockerfile, an image, a command. Nothing is made then, but for an image. */
export async function openScene(
  settings: DockerSettings,
  { lives, closing }: Pick<ProvisionPorts, 'lives' | 'closing'>,
): Promise<Scene> {
  const address = readEngineAddress(settings.host, process.env)
  if (!address.isHere && settings.publishOn === undefined) throw remoteEngine(address)
  const engine = await openEngine(address, settings.clock)
  try {
    const image = await obtainImage(engine, settings, closing)
    await sweepUp(engine)
    return makeScene(settings, engine, image, { lives, closing })
  } catch (error) {
    engine.close()
    throw error
  }
}

function makeScene(
  settings: DockerSettings,
  engine: Engine,
  image: ReadyImage,
  { lives, closing }: Pick<ProvisionPorts, 'lives' | 'closing'>,
): Scene {
  const { clock, publishOn = LOOPBACK, startDeadlineMs, withToken } = settings
  const token = withToken ? randomIds.hex(24) : undefined
  noteSecret(token)
  const client = makeControlClient({ clock })
  const kind = { ...settings, image: image.id, publishOn, token }
  const works = new Set<Promise<unknown>>()
  return {
    provision(request) {
      const work = provision({ engine, kind, client, startDeadlineMs, lives, closing }, request)
      works.add(work)
      return work.finally(() => works.delete(work))
    },
    list: () => listOurs(engine, image),
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

async function listOurs({ ask, docker }: Engine, image: ReadyImage): Promise<readonly OurContainer[]> {
  const filters = { label: [SANDBOX_LABEL] }
  const found = await ask('list its containers', abortSignal =>
    docker.listContainers({ all: true, filters, abortSignal }),
  )
  return found
    .filter(({ ImageID }) => ImageID === image.id)
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
