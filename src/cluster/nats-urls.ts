import { badNatsUrl, secretInNatsUrl } from './connect-errors.ts'

/** Where the servers of a cluster are. */
export interface NatsServers {
  /** `HOST:PORT`, at least one. */
  readonly servers: readonly string[]
  /** One of them was given as `tls://`: a server without TLS is refused. */
  readonly mustBeTls: boolean
}

const DEFAULT_PORT = 4222

/** Reads `nats://a:4222,nats://b:4222`, or a list of such. Throws `bad-nats-url`, and `secret-in-nats-url` for one with a user in it. */
export function parseNatsUrls(urls: string | readonly string[]): NatsServers {
  const texts = (typeof urls === 'string' ? [urls] : urls)
    .flatMap(text => text.split(','))
    .map(text => text.trim())
    .filter(text => text !== '')
  if (texts.length === 0) throw badNatsUrl('an empty text', 'it names no server')
  const parsed = texts.map(parseNatsUrl)
  return { servers: parsed.map(({ host }) => host), mustBeTls: parsed.some(({ isTls }) => isTls) }
}

function parseNatsUrl(text: string): { readonly host: string; readonly isTls: boolean } {
  if (text.includes('@')) throw secretInNatsUrl()
  const [, scheme = '', rest = ''] = /^([a-z]+):\/\/(.*)$/i.exec(text) ?? []
  if (!/^(nats|tls)$/i.test(scheme)) throw badNatsUrl(text, 'it does not begin with nats:// or tls://')
  // Node's parser knows the rules of hosts for http alone.
  const url = URL.canParse(`http://${rest}`) ? new URL(`http://${rest}`) : undefined
  if (url === undefined) throw badNatsUrl(text, 'what follows is no host and port')
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '')
    throw badNatsUrl(text, 'there is something behind the port')
  // The parser drops 80, since it is that scheme's own.
  const port = url.port !== '' ? url.port : /:0*80\/?$/.test(rest) ? '80' : String(DEFAULT_PORT)
  return { host: `${url.hostname}:${port}`, isTls: scheme.toLowerCase() === 'tls' }
}
