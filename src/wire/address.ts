/** Where a control channel listens. */
export type Address =
  | { readonly kind: 'tcp'; readonly host: string; readonly port: number }
  | { readonly kind: 'unix'; readonly path: string }

/** `host:port` or the socket's path, for messages and labels. */
export function formatAddress(address: Address): string {
  if (address.kind === 'unix') return address.path
  return address.host.includes(':') ? `[${address.host}]:${address.port}` : `${address.host}:${address.port}`
}
