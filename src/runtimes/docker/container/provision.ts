import { hasTag, toErrorData } from '../../../errors.ts'
import { type IdSource, randomIds } from '../../../ids.ts'
import { publish } from '../../../telemetry/channels.ts'
import { type Address, formatAddress } from '../../../wire/address.ts'
import type { TroupeControlClient } from '../../../wire/client.ts'
import { provisionCancelled } from '../../errors.ts'
import type { ProvisionRequest, Sandbox } from '../../runtime.ts'
import type { Engine } from '../engine/engine.ts'
import { environmentNotReachable, environmentNotServing, sandboxLost } from '../errors.ts'
import { tooLittleDisk } from './errors.ts'
import { type LiveContainer, makeLiveContainer } from './live-container.ts'
import { type ContainerKind, toNewContainer } from './new-container.ts'

/** What provisions of one runtime share. */
export interface ProvisionPorts {
  readonly engine: Engine
  readonly kind: ContainerKind
  readonly client: TroupeControlClient
  readonly startDeadlineMs: number
  /** Bytes that have to be free for its files. Undefined: nobody looks. */
  readonly freeDiskBytes: number | undefined
  /** All that exist, or may. */
  readonly lives: Set<LiveContainer>
  /** Aborts when the runtime closes. */
  readonly closing: AbortSignal
  readonly ids?: IdSource
}

/**
 * One sandbox, from its container's create to its environment's answer. Called off or failed, the container is removed before this rejects; one that will not go is
 * told on the channel `troupe:sandbox`, and tried again when the runtime closes.
 */
export async function provision(ports: ProvisionPorts, request: ProvisionRequest): Promise<Sandbox> {
  const { closing, engine, ids = randomIds, kind, lives } = ports
  const { id, labels, onLost, signal } = request
  if (signal.aborted) throw provisionCancelled(id, signal.reason)
  closing.throwIfAborted()
  const wanted = toNewContainer(request, kind, ids)
  const live = makeLiveContainer({ engine, id, wanted, onGone: () => lives.delete(live) })
  lives.add(live)
  const work = new AbortController()
  const until = AbortSignal.any([signal, closing, work.signal])
  try {
    await live.create()
    until.throwIfAborted()
    const { address, sessionId } = await bringUp(ports, request, live, until)
    // What ends from here on is no failure of this call.
    void live.ended.then(end => onLost?.(sandboxLost(id, end, live.tail())))
    return { id, address, sessionId, labels, dispose: () => live.remove() }
  } catch (error) {
    work.abort(error)
    await cleanUp(live)
    if (signal.aborted) throw provisionCancelled(id, signal.reason)
    throw closing.aborted ? closing.reason : error
  }
}

async function bringUp(
  { client, engine, freeDiskBytes, kind, startDeadlineMs }: ProvisionPorts,
  { id, prewarm }: ProvisionRequest,
  live: LiveContainer,
  signal: AbortSignal,
): Promise<{ readonly address: Address; readonly sessionId: string | undefined }> {
  const { port, publishOn, token } = kind
  const died = live.ended.then(end => {
    throw environmentNotServing(id, end, live.tail())
  })
  const published = await Promise.race([live.start(port, kind.network ?? 'bridge', signal), died])
  const address: Address = {
    kind: 'tcp',
    host: publishOn,
    port: published,
    ...(token === undefined ? {} : { token }),
  }
  try {
    const limit = { clock: engine.clock, deadlineMs: startDeadlineMs, signal }
    const sessionId = await Promise.race([shakeHands(client, address, prewarm, limit), died])
    if (freeDiskBytes !== undefined) await requireFreeDisk(live, freeDiskBytes, signal)
    return { address, sessionId }
  } catch (error) {
    if (!hasTag(error, 'connect-timeout')) throw error
    const details = { port, address: formatAddress(address), deadlineMs: startDeadlineMs, output: live.tail() }
    throw environmentNotReachable(id, details, error)
  }
}

/** One `hello`, said until it is answered. Resolves with the session that is parked, where one is wanted and the peer keeps it. */
async function shakeHands(
  client: TroupeControlClient,
  address: Address,
  prewarm: boolean,
  limit: Pick<Parameters<TroupeControlClient['connect']>[1], 'clock' | 'deadlineMs' | 'signal'>,
): Promise<string | undefined> {
  const session = await client.connect(address, { ...limit, ephemeral: !prewarm })
  if (!prewarm) {
    await session.end()
    return undefined
  }
  try {
    await session.park()
    return session.sessionId
  } catch (error) {
    await session.end()
    // A peer that is not ours may forget a session without a task.
    if (hasTag(error, 'park-unsupported')) return undefined
    throw error
  }
}

async function requireFreeDisk(live: LiveContainer, wanted: number, signal: AbortSignal): Promise<void> {
  const free = await live.freeDisk(signal)
  if (free < wanted) throw tooLittleDisk(live.name, free, wanted)
}

/** Never rejects. */
async function cleanUp(live: LiveContainer): Promise<void> {
  try {
    await live.remove()
  } catch (error) {
    publish('sandbox', toErrorData(error))
  }
}
