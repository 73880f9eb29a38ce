import type { Clock } from '../clock.ts'
import { type IdSource, randomIds } from '../ids.ts'

export interface SshAccess {
  readonly id: string
  readonly token: string
  readonly sandboxId: string
  readonly createdAt: number
  readonly expiresAt: number
}

/** Tokens of the gateway, and signed ones of the preview proxy. Unguessable even where ids are seeded. */
export function makeAccess(wall: Clock, ids: IdSource = randomIds) {
  const ssh = makeTokens<SshAccess>()
  const signed = makeTokens<{ readonly sandboxId: string; readonly port: number; readonly expiresAt: number }>()
  const isValid = ({ expiresAt }: { readonly expiresAt: number }) => expiresAt > wall.wallTime()
  return {
    grant(sandboxId: string, minutes: number): SshAccess {
      const now = wall.wallTime()
      const access = {
        id: ids.hex(16),
        token: ids.hex(16),
        sandboxId,
        createdAt: now,
        expiresAt: now + minutes * 60_000,
      }
      ssh.add(access.token, access)
      return access
    },
    /** One token, or all of a sandbox. */
    revoke(sandboxId: string, token: string | undefined): void {
      if (token === undefined) ssh.removeAll(sandboxId)
      else if (ssh.get(token)?.sandboxId === sandboxId) ssh.remove(token)
    },
    find(token: string): SshAccess | undefined {
      const found = ssh.get(token)
      return found !== undefined && isValid(found) ? found : undefined
    },
    sign(sandboxId: string, port: number, seconds: number): string {
      const token = ids.hex(16)
      signed.add(token, { sandboxId, port, expiresAt: wall.wallTime() + seconds * 1000 })
      return token
    },
    expire: (token: string) => signed.remove(token),
    signedFor(token: string): { readonly sandboxId: string; readonly port: number } | undefined {
      const found = signed.get(token)
      return found !== undefined && isValid(found) ? found : undefined
    },
    forget(sandboxId: string): void {
      ssh.removeAll(sandboxId)
      signed.removeAll(sandboxId)
    },
  }
}

/** Grants by token, and the tokens of each sandbox, so that what goes costs nothing for what stays. */
function makeTokens<Grant extends { readonly sandboxId: string }>() {
  const grants = new Map<string, Grant>()
  const tokens = new Map<string, Set<string>>()
  return {
    get: (token: string): Grant | undefined => grants.get(token),
    add(token: string, grant: Grant): void {
      grants.set(token, grant)
      const own = tokens.get(grant.sandboxId) ?? new Set()
      own.add(token)
      tokens.set(grant.sandboxId, own)
    },
    remove(token: string): void {
      const sandboxId = grants.get(token)?.sandboxId
      grants.delete(token)
      if (sandboxId === undefined) return
      tokens.get(sandboxId)?.delete(token)
      if (tokens.get(sandboxId)?.size === 0) tokens.delete(sandboxId)
    },
    removeAll(sandboxId: string): void {
      for (const token of tokens.get(sandboxId) ?? []) grants.delete(token)
      tokens.delete(sandboxId)
    },
  }
}

export type Access = ReturnType<typeof makeAccess>
