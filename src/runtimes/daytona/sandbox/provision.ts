import { sleep } from '../../../clock.ts'
import { type ErrorData, fromErrorData, hasTag, TroupeError, toErrorData } from '../../../errors.ts'
import type { SandboxId } from '../../../ids.ts'
import { publish } from '../../../telemetry/channels.ts'
import { provisionCancelled } from '../../errors.ts'
import type { ProvisionRequest, Sandbox } from '../../runtime.ts'
import type { Account } from '../account/account.ts'
import type { SandboxStages } from '../options.ts'
import type { Reach, ServeCommand } from '../reach/index.ts'
import type { Backstop } from './backstop.ts'
import { bringUp } from './bring-up.ts'
import { type Born, createSandbox } from './create-sandbox.ts'
import { parentGone } from './errors.ts'
import { forkSandbox } from './fork-sandbox.ts'
import { type LiveSandbox, makeLiveSandbox } from './live-sandbox.ts'
import { type NewSandbox, type SandboxKind, toNewSandbox } from './new-sandbox.ts'
import type { Strays } from './strays.ts'

/** What provisions of one runtime share. */
export interface ProvisionPorts {
  readonly account: Account
  readonly reach: Reach
  readonly backstop: Backstop
  readonly strays: Strays
  readonly kind: SandboxKind
  readonly serve: ServeCommand
  readonly startDeadlineMs: number
  readonly lives: Map<SandboxId, LiveSandbox>
  readonly onStages: ((stages: SandboxStages) => void) | undefined
  /** Aborts when the runtime closes. */
  readonly closing: AbortSignal
}

const CLEAN_UP_PAUSE_MS = 5_000

/**
 * One sandbox, from its create to its environment's answer. Called off or failed, it is deleted before this rejects; one that will not go is tried again
 * and again, so that a rejection says that nothing is left, until the runtime closes and names it.
 */
export async function provision(ports: ProvisionPorts, request: ProvisionRequest): Promise<Sandbox> {
  const { account, closing, kind } = ports
  const { clock } = account
  const { id, labels, signal } = request
  const work = new AbortController()
  const callOff = () => work.abort(provisionCancelled(id, signal.reason))
  const close = () => work.abort(closing.reason)
  signal.addEventListener('abort', callOff, { once: true })
  closing.addEventListener('abort', close, { once: true })
  try {
    if (signal.aborted) callOff()
    if (closing.aborted) close()
    work.signal.throwIfAborted()
    const sentAt = clock.now()
    const wanted = toNewSandbox(request, kind, clock.wallTime())
    const born = await make(ports, request, wanted)
    const createdMs = clock.now() - sentAt
    let answered = false
    let isForkable = false
    const forkable = () => {
      if (isForkable) return
      isForkable = true
      request.onForkable?.()
    }
    const live = toLive(ports, request, wanted, born, error => {
      if (answered) request.onLost?.(error)
      else work.abort(fromErrorData(error))
    })
    try {
      const { reached, startedAt } = await bringUp(ports, request, {
        wanted,
        born,
        live,
        work,
        // What serves in a fork was serving in its parent: it is worth copying before it can be reached.
        onStarted: () => (born.origin === 'fork' ? forkable() : undefined),
      })
      const { origin } = born
      const { address, sessionId, transport } = reached
      const [startedMs, reachedMs] = [startedAt - sentAt, clock.now() - sentAt]
      ports.onStages?.({ id, origin, createdMs, startedMs, reachedMs, transport })
      forkable()
      answered = true
      return { id, address, sessionId, labels, origin, dispose: () => live.remove() }
    } catch (error) {
      const reason = signal.aborted || closing.aborted ? error : await toReason(live, error)
      work.abort(reason)
      await cleanUp(live, account, closing)
      throw reason
    }
  } finally {
    signal.removeEventListener('abort', callOff)
    closing.removeEventListener('abort', close)
  }
}

/** Not called off once it is sent: an id that is never heard of cannot be deleted. */
async function make(
  { account, lives, strays }: ProvisionPorts,
  { parent }: ProvisionRequest,
  wanted: NewSandbox,
): Promise<Born> {
  try {
    if (parent === undefined) return await createSandbox(account, wanted)
    const source = lives.get(parent)
    if (source === undefined) throw parentGone(parent, undefined)
    return await forkSandbox(account, source.providerId, wanted)
  } catch (error) {
    if (hasTag(error, 'daytona-create-unanswered')) strays.add(wanted.name)
    throw error
  }
}

/** A sandbox that died meanwhile refuses what nobody could have asked better: what ended it is the reason, and that another may do. */
async function toReason(live: LiveSandbox, error: unknown): Promise<unknown> {
  if (error instanceof TroupeError && error.data.transient === true) return error
  const diagnosis = await live.diagnose()
  return diagnosis?.tag === 'sandbox-lost' ? fromErrorData(diagnosis) : error
}

function toLive(
  { account, backstop, lives }: ProvisionPorts,
  { id }: ProvisionRequest,
  { name }: NewSandbox,
  { dto }: Born,
  onLost: (error: ErrorData) => void,
): LiveSandbox {
  const live = makeLiveSandbox({ account, backstop, id, name, dto, onLost, onGone: () => lives.delete(id) })
  lives.set(id, live)
  return live
}

/** Published when it will not go; it then stays among those that live. Never rejects. */
async function cleanUp(live: LiveSandbox, { clock }: Account, closing: AbortSignal): Promise<void> {
  for (let told = false; ; told = true) {
    try {
      await live.remove()
      return
    } catch (error) {
      if (!told) publish('sandbox', toErrorData(error))
      await sleep(clock, CLEAN_UP_PAUSE_MS, closing).catch(() => {}) // closing: looked at next
      if (closing.aborted) return
    }
  }
}
