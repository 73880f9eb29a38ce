import type { SandboxId } from '../../ids.ts'
import { judgeOwner } from '../../owner.ts'

/**
 * What our labels are called at the provider, so that they are told from other people's. `owner` is `toOwnerWord()` of the process that asked;
 * `expiry` an ISO time; `sandbox` our own id.
 */
export const PROVIDER_LABELS = {
  job: 'troupe-job',
  owner: 'troupe-owner',
  sandbox: 'troupe-sandbox',
  expiry: 'troupe-expiry',
  run: 'troupe-run',
} as const

const PREFIX = 'troupe-'

/** Every label of ours with its prefix, whatever else it is called. */
export function toProviderLabels(labels: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(labels).map(([name, text]) => [`${PREFIX}${name}`, text]))
}

/** The labels without their prefix; those of other people are left out. */
export function fromProviderLabels(labels: Readonly<Record<string, string>> | undefined): Record<string, string> {
  return Object.fromEntries(
    Object.entries(labels ?? {})
      .filter(([name]) => name.startsWith(PREFIX))
      .map(([name, text]) => [name.slice(PREFIX.length), text]),
  )
}

/** What a label of ours says, undefined where it is not there or cannot be read. */
export interface OurLabels {
  readonly job: string | undefined
  readonly owner: string | undefined
  readonly sandbox: string | undefined
  /** Milliseconds since 1970. */
  readonly expiresAt: number | undefined
}

export function readLabels(labels: Readonly<Record<string, string>>): OurLabels {
  const expiresAt = Date.parse(labels[PROVIDER_LABELS.expiry] ?? '')
  return {
    job: labels[PROVIDER_LABELS.job],
    owner: labels[PROVIDER_LABELS.owner],
    sandbox: labels[PROVIDER_LABELS.sandbox],
    expiresAt: Number.isNaN(expiresAt) ? undefined : expiresAt,
  }
}

/** `expired`: on another machine, or in another container, and past its time. `elsewhere`: there, as far as can be told from here. */
export type Verdict = 'alive' | 'dead' | 'expired' | 'elsewhere'

/** Of the owner that the labels name. */
export function judgeLabels(labels: Readonly<Record<string, string>>, now: number): Verdict {
  const { owner = '', expiresAt } = readLabels(labels)
  const verdict = judgeOwner(owner)
  return verdict === 'elsewhere' && expiresAt !== undefined && expiresAt <= now ? 'expired' : verdict
}

/** The name at the provider, chosen before the create: `troupe-sandbox-0123456789ab-7`. */
export function toSandboxName(id: SandboxId): string {
  return `${PREFIX}${id.replaceAll(/[^A-Za-z0-9._-]/g, '-')}`
}

/** Whether a sandbox has a name of ours, as a fork has before it has labels. */
export function isOurName(name: string): boolean {
  return name.startsWith(PREFIX)
}
