import type { SandboxId } from '../../ids.ts'
import { judgeOwner } from '../../owner.ts'

/** What our labels begin with, so that they are told from other people's: `troupe.job`, `troupe.owner`, `troupe.run`, `troupe.expiry`, … */
const PREFIX = 'troupe.'

/** `toOwnerWord()` of the process that asked. */
export const OWNER_LABEL = `${PREFIX}owner`
/** Our own id. */
export const SANDBOX_LABEL = `${PREFIX}sandbox`
/** Another for each create: what tells our container from one that only has its name. */
export const CREATE_LABEL = `${PREFIX}create`

/** Every label of ours with its prefix, whatever else it is called. */
export function toEngineLabels(labels: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(labels).map(([name, text]) => [`${PREFIX}${name}`, text]))
}

/** The labels without their prefix; those of other people are left out. */
export function fromEngineLabels(labels: Readonly<Record<string, string>> | undefined): Record<string, string> {
  return Object.fromEntries(
    Object.entries(labels ?? {})
      .filter(([name]) => name.startsWith(PREFIX))
      .map(([name, text]) => [name.slice(PREFIX.length), text]),
  )
}

/** `expired`: on another machine, or in another container, and past its time. `elsewhere`: there, as far as can be told from here. */
export type Verdict = 'alive' | 'dead' | 'expired' | 'elsewhere'

/** Of the owner that labels name, which are without their prefix. */
export function judgeLabels({ owner = '', expiry = '' }: Readonly<Record<string, string>>, now: number): Verdict {
  const verdict = judgeOwner(owner)
  const expiresAt = Date.parse(expiry)
  return verdict === 'elsewhere' && expiresAt <= now ? 'expired' : verdict
}

/** The container's name, chosen before the create: `troupe-sandbox-0123456789ab-7`. */
export function toContainerName(id: SandboxId): string {
  return `troupe-${id.replaceAll(/[^A-Za-z0-9._-]/g, '-')}`
}
