import type { Sandbox as SandboxDto, SandboxState } from '@daytona/api-client'
import { bounded } from '../../../bounded.ts'
import { type ErrorData, toErrorData } from '../../../errors.ts'
import type { SandboxId } from '../../../ids.ts'
import type { Account } from '../account/account.ts'
import { callDaytona } from '../account/call.ts'
import { findSandbox } from '../account/find-sandbox.ts'
import type { Reached } from '../reach/index.ts'
import type { Backstop } from './backstop.ts'
import { environmentDied, sandboxLost } from './errors.ts'
import { removeSandbox } from './remove-sandbox.ts'

/** A sandbox of ours that exists at the provider, from the answer to its create until its delete is confirmed. */
export interface LiveSandbox {
  readonly id: SandboxId
  readonly name: string
  readonly providerId: string
  /** How its environment is reached, once it has been. */
  noteReached(reached: Reached): void
  /** Why it, or what serves in it, is not as it should be; undefined when it seems to be well. Never rejects. */
  diagnose(): Promise<ErrorData | undefined>
  /** Cuts its connections and deletes it. Resolves when it is gone; what has rejected may be tried again. */
  remove(): Promise<void>
}

export interface LiveSandboxOptions {
  readonly account: Account
  readonly backstop: Backstop
  readonly id: SandboxId
  readonly name: string
  /** As its create was answered. */
  readonly dto: SandboxDto
  /** Called at most once, when it stops, fails or disappears without our asking. */
  readonly onLost: (error: ErrorData) => void
  readonly onGone: () => void
}

/** In any of these it serves no longer, and comes back by no doing of its own. */
const OVER: readonly SandboxState[] = [
  'error',
  'build_failed',
  'stopping',
  'stopped',
  'destroying',
  'destroyed',
  'archiving',
  'archived',
  'pausing',
  'paused',
]
/** For the provider to tell why. */
const REASON_MS = 1_000
const LOOK_MS = 5_000

export function makeLiveSandbox(options: LiveSandboxOptions): LiveSandbox {
  const { account, id, name, dto, onLost, onGone } = options
  const { id: providerId } = dto
  let reached: Reached | undefined
  let removing: Promise<void> | undefined
  let lost: ErrorData | undefined
  let leaving = false

  const stopWatching = account.events.watch(providerId, state => {
    if (OVER.includes(state)) void tellLost(state)
  })
  const stopTouching = options.backstop.keep(providerId, () => void tellLost('destroyed'))

  async function tellLost(state: SandboxState): Promise<void> {
    if (leaving || lost !== undefined) return
    lost = sandboxLost(id, { state })
    const looked = await bounded(account.clock, REASON_MS, look)
    const reason = looked.kind === 'ended' ? looked.value.reason : undefined
    lost = sandboxLost(id, { state, reason })
    if (!leaving) onLost(lost)
  }

  async function look(): Promise<{ readonly state: SandboxState; readonly reason: string | undefined }> {
    const found = await findSandbox(account, providerId, { timeout: LOOK_MS })
    return { state: found === undefined ? 'destroyed' : (found.state ?? 'unknown'), reason: found?.errorReason }
  }

  /** Its environment's server is the one command that we started in it. */
  async function hasEnded(): Promise<boolean> {
    const processes = account.processes(dto)
    const sessions = await callDaytona(`look at the commands in the sandbox ${id}`, () =>
      processes.listSessions({ timeout: LOOK_MS }),
    )
    return sessions.some(({ commands }) => commands.some(({ exitCode }) => typeof exitCode === 'number'))
  }

  async function removeIt(): Promise<void> {
    leaving = true
    stopWatching()
    stopTouching()
    await Promise.all([reached?.close({ sandboxEnds: true }), removeSandbox(account, providerId)])
    onGone()
  }

  return {
    id,
    name,
    providerId,
    noteReached(given) {
      reached = given
    },
    async diagnose() {
      if (leaving) return lost
      try {
        const [{ state, reason }, output] = await Promise.all([look(), reached?.output()])
        if (OVER.includes(state)) return sandboxLost(id, { state, reason, output })
        return (await hasEnded()) ? environmentDied(id, output ?? '') : undefined
      } catch (error) {
        return lost ?? toErrorData(error)
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
