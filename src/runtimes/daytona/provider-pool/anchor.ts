import type { Sandbox as SandboxDto } from '@daytona/api-client'
import { sleep } from '../../../clock.ts'
import { randomIds } from '../../../ids.ts'
import { toOwnerWord } from '../../../owner.ts'
import { publish } from '../../../telemetry/channels.ts'
import type { Account } from '../account/account.ts'
import { askDaytona } from '../account/call.ts'
import { callPatiently, patiently } from '../account/patience.ts'
import { PROVIDER_LABELS } from '../labels.ts'
import { makeBackstop, touchSandbox } from '../sandbox/backstop.ts'
import { withLostAnswer } from '../sandbox/create-sandbox.ts'
import { ANCHOR_LABEL, POOL_ANCHOR } from './anchor-labels.ts'
import { anchorLost } from './errors.ts'

/**
 * One plain sandbox for as long as a pool is held. It shows in which region sandboxes really land, and its labels say to everybody, on any machine,
 * whose the pool is. The provider stops it when its owner has died, and keeps it stopped for a week, so that `troupe reap` can still read it.
 */
export interface Anchor {
  readonly id: string
  readonly region: string
  readonly since: number
  /** Names the pool that it is of. */
  mark(poolId: string): Promise<void>
  /** Stops keeping it alive, which is before it is deleted. Twice is once. */
  rest(): void
}

export interface AnchorOptions {
  readonly snapshot: string
  readonly labels: Readonly<Record<string, string>>
  readonly autoStopMinutes: number
  readonly signal: AbortSignal
}

const MINUTE_MS = 60_000
const KEPT_MINUTES = 7 * 24 * 60
/** Renewed while its owner lives, so that it says of one on another machine whether it still does. Never less than what lies between three touches. */
const EXPIRY_MS = 60 * MINUTE_MS

/** Rejects as a create does, or with the signal's reason before anything is created. */
export async function makeAnchor(account: Account, options: AnchorOptions): Promise<Anchor> {
  const { clock, sandboxes } = account
  const since = clock.wallTime()
  const expiryMs = Math.max(EXPIRY_MS, options.autoStopMinutes * MINUTE_MS)
  let poolId: string | undefined
  let renewedAt = since
  const toLabels = (): Record<string, string> => ({
    [PROVIDER_LABELS.owner]: toOwnerWord(),
    ...options.labels,
    [PROVIDER_LABELS.expiry]: new Date(renewedAt + expiryMs).toISOString(),
    [ANCHOR_LABEL.purpose]: POOL_ANCHOR,
    [ANCHOR_LABEL.since]: String(since),
    ...(poolId === undefined ? {} : { [ANCHOR_LABEL.pool]: poolId }),
  })
  await takeToken(account, options.signal)
  const { id, target } = await create(account, options, toLabels())
  const relabel = () =>
    callPatiently(account, `label the sandbox ${id}`, () => sandboxes.replaceLabels(id, { labels: toLabels() }), {
      idempotent: true,
    })

  async function renew(): Promise<void> {
    const before = renewedAt
    renewedAt = clock.wallTime()
    try {
      await relabel()
    } catch (error) {
      renewedAt = before // tried again at the next touch
      throw error
    }
  }

  const backstop = makeBackstop({
    clock,
    autoStopMinutes: options.autoStopMinutes,
    async touch() {
      await touchSandbox(account, id)
      if (clock.wallTime() - renewedAt >= expiryMs / 2) await renew()
    },
    toProblem: anchorLost,
  })
  const rest = backstop.keep(id, cause => publish('sandbox', anchorLost(id, cause)))
  return {
    id,
    region: target,
    since,
    async mark(named) {
      poolId = named
      await relabel()
    },
    rest,
  }
}

/** Every create of this process draws on one bucket, this one too. */
async function takeToken({ creates, clock }: Account, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  while (!creates.take(clock.now())) await sleep(clock, Math.max(1, creates.nextAt(clock.now()) - clock.now()), signal)
}

/** A name that we choose, so that a sandbox is found whose create was not answered. */
async function create(
  account: Account,
  { snapshot, autoStopMinutes, signal }: AnchorOptions,
  labels: Record<string, string>,
): Promise<SandboxDto> {
  const { sandboxes, region } = account
  const name = `troupe-anchor-${randomIds.hex(8)}`
  const wanted = {
    name,
    snapshot,
    labels,
    ...(region === undefined ? {} : { target: region }),
    autoStopInterval: autoStopMinutes,
    autoDeleteInterval: KEPT_MINUTES,
  }
  const ask = () => askDaytona(`create the sandbox ${name}`, () => sandboxes.createSandbox(wanted))
  const { answer } = await withLostAnswer(account, name, () => patiently(account, ask, { idempotent: false, signal }))
  return answer.data
}
