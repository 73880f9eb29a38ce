import { type ErrorData, hasTag, toErrorData } from '../../../errors.ts'
import type { SandboxId } from '../../../ids.ts'
import type { Engine } from '../engine/engine.ts'
import { type End, nameTaken, portNotPublished, sandboxLost } from '../errors.ts'
import { measureFreeDisk } from './free-disk.ts'
import type { NewContainer } from './new-container.ts'
import { makeOutput } from './output.ts'
import { removeContainer } from './remove.ts'
import { lookForEnd, watchContainer } from './watch.ts'

/** A container of ours, from before its create is sent until it is known to be gone. */
export interface LiveContainer {
  readonly id: SandboxId
  readonly name: string
  /** Never called off once it is sent: one whose answer nobody waits for could only be found by its name. */
  create(): Promise<void>
  /** Starts it, and answers the port of the engine's machine that `port` is published on. Only after `create`. */
  start(port: number, network: string, signal: AbortSignal): Promise<number>
  /** Bytes that are free for its files. Only once it has started. */
  freeDisk(signal: AbortSignal): Promise<number>
  /** Resolves when it ends by itself; never once it is being removed. */
  readonly ended: Promise<End>
  /** The last lines of its log. */
  tail(): string
  /** Why it is not as it should be; undefined when it seems to be well. Never rejects. */
  diagnose(): Promise<ErrorData | undefined>
  /** Resolves when it is gone; what has rejected may be tried again. */
  remove(): Promise<void>
}

export interface LiveContainerOptions {
  readonly engine: Engine
  readonly id: SandboxId
  readonly wanted: NewContainer
  readonly onGone: () => void
}

export function makeLiveContainer({ engine, id, wanted, onGone }: LiveContainerOptions): LiveContainer {
  const { ask, docker } = engine
  const { body, labels, name } = wanted
  const output = makeOutput()
  const leaving = new AbortController()
  let containerId: string | undefined
  /** That of its name is nobody's, or somebody else's. */
  let isNotMade = false
  let removing: Promise<void> | undefined
  let lost: End | undefined
  let end: (how: End) => void
  const ended = new Promise<End>(resolve => {
    end = resolve
  })

  async function watch(watched: string): Promise<void> {
    try {
      lost = await watchContainer(engine, watched, output, leaving.signal)
      end(lost)
    } catch {
      // It is being removed, and no longer looked at.
    }
  }

  async function removeIt(): Promise<void> {
    leaving.abort()
    if (!isNotMade) await removeContainer(engine, { name, id: containerId, labels })
    onGone()
  }

  return {
    id,
    name,
    ended,
    async create() {
      try {
        const created = await ask(`create the container ${name}`, abortSignal =>
          docker.createContainer({ ...body, abortSignal }),
        )
        containerId = created.id
      } catch (error) {
        isNotMade = hasTag(error, 'docker-conflict') || hasTag(error, 'docker-no-engine')
        throw hasTag(error, 'docker-conflict') ? nameTaken(name, error) : error
      }
    },
    async start(port, network, signal) {
      const started = containerId ?? name
      const container = docker.getContainer(started)
      await ask(`start the container ${name}`, abortSignal => container.start({ abortSignal }), { signal })
      void watch(started)
      const { NetworkSettings } = await ask(
        `look at the container ${name}`,
        abortSignal => container.inspect({ abortSignal }),
        {
          signal,
        },
      )
      const published = Number(NetworkSettings.Ports?.[`${port}/tcp`]?.[0]?.HostPort)
      if (!(published >= 1)) {
        // One that has ended already publishes nothing any more, and has a better reason to give.
        const why = await lookForEnd(engine, started, signal)
        if (why !== undefined) await ended
        throw portNotPublished(id, port, network)
      }
      return published
    },
    freeDisk: signal => measureFreeDisk(engine, { id: containerId ?? name, name }, signal),
    tail: () => output.tail(),
    async diagnose() {
      try {
        const how = lost ?? (await lookForEnd(engine, containerId ?? name))
        return how === undefined ? undefined : sandboxLost(id, how, output.tail())
      } catch (error) {
        return toErrorData(error)
      }
    },
    remove() {
      removing ??= removeIt()
      removing.catch(() => {
        removing = undefined
      })
      return removing
    },
  }
}
