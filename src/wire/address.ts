/** Where a control channel is reached. Plain data: it crosses threads. */
export type Address = (ListenAddress | WebSocketAddress) & {
  /** What opens a server that wants one, as our own do beyond loopback. Sent in the first frame of each connection, never shown. */
  readonly token?: string
}

/** What a server of this machine can listen on. */
export type ListenAddress =
  | { readonly kind: 'tcp'; readonly host: string; readonly port: number }
  | { readonly kind: 'unix'; readonly path: string }

/** Reached through an HTTP proxy, as a sandbox in a cloud is by its preview URL. */
export interface WebSocketAddress {
  readonly kind: 'websocket'
  /** `ws://` or `wss://`. A query may hold a token: it is sent and never shown. */
  readonly url: string
  /** Sent with the upgrade (`x-daytona-preview-token`, …), never shown. */
  readonly headers: Readonly<Record<string, string>>
}

/** `host:port`, the socket's path, or the URL without its query and user, for messages and labels. Holds no secret of an address's own fields. */
export function formatAddress(address: Address): string {
  switch (address.kind) {
    case 'unix':
      return address.path
    case 'websocket':
      return formatUrl(address.url)
    case 'tcp':
      return address.host.includes(':') ? `[${address.host}]:${address.port}` : `${address.host}:${address.port}`
  }
}

/** The same for addresses that lead to the same peer with the same rights. Holds tokens: for maps, never for people. */
export function addressKey(address: Address): string {
  const { token } = address
  if (address.kind !== 'websocket') return JSON.stringify([address.kind, formatAddress(address), token])
  const headers = Object.entries(address.headers).map(([name, value]) => [name.toLowerCase(), value])
  headers.sort(([one = ''], [other = '']) => (one < other ? -1 : 1))
  return JSON.stringify([address.url, headers, token])
}

function formatUrl(text: string): string {
  if (!URL.canParse(text)) return 'a URL that cannot be read'
  const { protocol, host, pathname } = new URL(text)
  return `${protocol}//${host}${pathname}`
}
