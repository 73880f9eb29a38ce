import { timingSafeEqual } from 'node:crypto'
import type { IdSource } from '../../ids.ts'

const NAME_BYTES = 8
const SECRET_BYTES = 24

/** A table of things that a secret token opens. */
export interface TokenTable<T> {
  /** A fresh token for `value`. */
  issue(value: T): string
  /** What the token opens. Found by its public part; the whole is compared in constant time. */
  find(token: string): T | undefined
  revoke(token: string): void
}

export function makeTokenTable<T>(ids: IdSource): TokenTable<T> {
  const entries = new Map<string, { readonly token: Buffer; readonly value: T }>()
  const nameOf = (token: string) => token.slice(0, 2 * NAME_BYTES)
  return {
    issue(value) {
      const token = ids.hex(NAME_BYTES) + ids.hex(SECRET_BYTES)
      entries.set(nameOf(token), { token: Buffer.from(token), value })
      return token
    },
    find(token) {
      const entry = entries.get(nameOf(token))
      const given = Buffer.from(token)
      if (entry === undefined || given.length !== entry.token.length) return undefined
      return timingSafeEqual(given, entry.token) ? entry.value : undefined
    },
    revoke: token => void entries.delete(nameOf(token)),
  }
}
