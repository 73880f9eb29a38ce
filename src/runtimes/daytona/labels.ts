import type { SandboxId } from '../../ids.ts'

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

/** The name at the provider, chosen before the create: `troupe-sandbox-0123456789ab-7`. */
export function toSandboxName(id: SandboxId): string {
  return `${PREFIX}${id.replaceAll(/[^A-Za-z0-9._-]/g, '-')}`
}

/** Whether a sandbox has a name of ours, as a fork has before it has labels. */
export function isOurName(name: string): boolean {
  return name.startsWith(PREFIX)
}
