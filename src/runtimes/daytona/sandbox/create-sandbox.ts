import type { Sandbox as SandboxDto } from '@daytona/api-client'
import { sleep } from '../../../clock.ts'
import type { SandboxOrigin } from '../../runtime.ts'
import type { Account } from '../account/account.ts'
import { type Answer, askDaytona, isUnanswered } from '../account/call.ts'
import { toHeaders } from '../account/failure.ts'
import { withRegions } from '../account/regions.ts'
import { createUnanswered } from './errors.ts'
import { type NewSandbox, toCreateBody } from './new-sandbox.ts'

/** A sandbox that the provider has made, and may still be starting. */
export interface Born {
  readonly dto: SandboxDto
  readonly origin: SandboxOrigin
}

/** Pauses before each look for what a create without an answer has made. */
const LOOKS_AFTER_MS = [0, 250, 750, 2_000]
/** Of a create that the provider itself failed, and not something between us. */
const LOOKS_AFTER_FAULT_MS = [0, 400]

/**
 * Sends one create and waits for its answer, whatever happens meanwhile: an id that is never heard of cannot be deleted. A create whose answer never comes
 * is looked for by its name. Rejects as `callDaytona` does, with the account's regions where its own is not one of them, or with
 * `daytona-create-unanswered`.
 */
export async function createSandbox(account: Account, wanted: NewSandbox): Promise<Born> {
  const { clock, sandboxes } = account
  const sentAt = clock.now()
  const create = () => sandboxes.createSandbox(toCreateBody(wanted))
  try {
    const { answer, found } = await withLostAnswer(account, wanted.name, () =>
      askDaytona(`create ${wanted.name}`, create),
    )
    return { dto: answer.data, origin: toOrigin(answer, clock.now() - sentAt, found) }
  } catch (error) {
    throw await withRegions(account, error)
  }
}

/** The answer to a call that makes a sandbox of this name, or what can be found of it. */
export async function withLostAnswer(
  account: Account,
  name: string,
  ask: () => Promise<Answer<SandboxDto>>,
): Promise<{ readonly answer: Answer<SandboxDto>; readonly found: boolean }> {
  try {
    return { answer: await ask(), found: false }
  } catch (error) {
    if (!isUnanswered(error)) throw error
    const { status } = error.data.details ?? {}
    for (const pauseMs of status === 500 || status === 503 ? LOOKS_AFTER_FAULT_MS : LOOKS_AFTER_MS) {
      if (pauseMs > 0) await sleep(account.clock, pauseMs)
      const answer = await findByName(account, name)
      if (answer !== undefined) return { answer, found: true }
    }
    throw createUnanswered(name, error)
  }
}

/** Undefined where nothing of that name is, or nobody tells. */
async function findByName({ sandboxes }: Account, name: string): Promise<Answer<SandboxDto> | undefined> {
  try {
    return await askDaytona(`look for ${name}`, () => sandboxes.getSandbox(name))
  } catch {
    // Whether it is not there or the provider is still in trouble, what is told in the end is why the create had no answer.
    return undefined
  }
}

/**
 * `claim` where the provider answered with a sandbox that runs and that it did not make for this create: a member of its pool was there before. All times
 * are the provider's own, since its clock is not ours. Its `Date` is cut to seconds, and what was made within that one is taken for a member when it came
 * running with the answer, but not when it had to be looked for and had time to start.
 */
export function toOrigin({ data, headers }: Answer<SandboxDto>, tookMs: number, found: boolean): SandboxOrigin {
  if (data.state !== 'started') return 'cold'
  const sentAt = Date.parse(toHeaders(headers).date ?? '') - tookMs
  const createdAt = Date.parse(data.createdAt ?? '')
  if (found) return createdAt < sentAt ? 'claim' : 'cold'
  return createdAt >= sentAt + 1_000 ? 'cold' : 'claim'
}
