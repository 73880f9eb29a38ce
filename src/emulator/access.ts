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
  const ssh = new Map<string, SshAccess>()
  const signed = new Map<string, { sandboxId: string; port: number; expiresAt: number }>()
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
      ssh.set(access.token, access)
      return access
    },
    /** One token, or all of a sandbox. */
    revoke(sandboxId: string, token: string | undefined): void {
      for (const each of ssh.values())
        if (each.sandboxId === sandboxId && (token === undefined || each.token === token)) ssh.delete(each.token)
    },
    find(token: string): SshAccess | undefined {
      const found = ssh.get(token)
      return found !== undefined && found.expiresAt > wall.wallTime() ? found : undefined
    },
    sign(sandboxId: string, port: number, seconds: number): string {
      const token = ids.hex(16)
      signed.set(token, { sandboxId, port, expiresAt: wall.wallTime() + seconds * 1000 })
      return token
    },
    expire: (token: string) => void signed.delete(token),
    signedFor(token: string): { readonly sandboxId: string; readonly port: number } | undefined {
      const found = signed.get(token)
      return found !== undefined && found.expiresAt > wall.wallTime() ? found : undefined
    },
    forget(sandboxId: string): void {
      for (const each of ssh.values()) if (each.sandboxId === sandboxId) ssh.delete(each.token)
      for (const [token, each] of signed) if (each.sandboxId === sandboxId) signed.delete(token)
    },
  }
}

export type Access = ReturnType<typeof makeAccess>
