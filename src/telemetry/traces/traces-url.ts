import { badTracesUrl } from '../errors.ts'

const PATH = '/v1/traces'

/** Where traces are sent: `http://127.0.0.1:4318` as the place of a receiver, or the whole of its URL. Throws `bad-traces-url`. */
export function toTracesUrl(text: string): string {
  if (!URL.canParse(text)) throw badTracesUrl('it is no URL')
  const url = new URL(text)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw badTracesUrl('it is neither http nor https')
  // It stands in `ps`, and in what is told.
  if (`${url.username}${url.password}${url.search}${url.hash}` !== '')
    throw badTracesUrl('it has a user, a query or a fragment; a key goes into the variable OTEL_EXPORTER_OTLP_HEADERS')
  if (url.pathname === '/') url.pathname = PATH
  return url.href
}
