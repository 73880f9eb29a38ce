import type { Address, ListenAddress } from '../../../src/wire/address.ts'

/** How the same server is reached. */
export type Transport = 'tcp' | 'websocket'
export const TRANSPORTS: readonly Transport[] = ['tcp', 'websocket']

export function reach(address: ListenAddress, transport: Transport): Address {
  if (transport === 'tcp') return address
  if (address.kind !== 'tcp') throw new Error('not over TCP')
  return toWebSocket(address.port)
}

/** Any path will do. */
export function toWebSocket(port: number, headers: Readonly<Record<string, string>> = {}): Address {
  return { kind: 'websocket', url: `ws://127.0.0.1:${port}/any/path`, headers }
}
