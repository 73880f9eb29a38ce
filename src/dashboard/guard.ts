import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { TroupeError } from '../errors.ts'
import { isLoopbackHost } from '../wire/loopback.ts'
import { dashboardTokenWanted, foreignHost, foreignSite } from './errors.ts'

/** Who is let in. */
export interface Guard {
  /** Undefined: come in. */
  refuse(headers: IncomingHttpHeaders, path: string): TroupeError | undefined
  /** What a browser keeps when it shows the token in an address; undefined for another than the token. */
  enter(token: string): string | undefined
}

/**
 * Without a token only this machine reaches the server; then no name but its own is answered to, so that no page can have a name of its own lead here, and no other site's
 * page may ask. With a token whoever shows it comes in, under any name: once in the address, from then on by a cookie that is sent to this server alone.
 */
export function makeGuard(token: string | undefined): Guard {
  const wanted = token === undefined ? undefined : digest(token)
  const isToken = (text: string | undefined) =>
    wanted !== undefined && text !== undefined && timingSafeEqual(digest(text), wanted)
  const kept = wanted?.toString('hex') ?? ''
  // Cookies of a host are sent to all of its ports: each dashboard's has a name of its own.
  const cookie = `troupe-${digest(kept).toString('hex').slice(0, 12)}`
  const isKept = (text: string | undefined) => text !== undefined && timingSafeEqual(digest(text), digest(kept))
  return {
    refuse(headers, path) {
      if (isForeign(headers, path)) return foreignSite()
      if (wanted !== undefined) {
        const [, bearer] = /^Bearer (\S+)$/.exec(headers.authorization ?? '') ?? []
        return isToken(bearer) || isKept(cookieOf(headers, cookie)) ? undefined : dashboardTokenWanted()
      }
      const host = headers.host ?? ''
      return isLoopbackHost(nameOf(host)) ? undefined : foreignHost(host)
    },
    enter: text => (isToken(text) ? `${cookie}=${kept}; Path=/; HttpOnly; SameSite=Strict` : undefined),
  }
}

/** Another site may lead here, but not ask for anything. Browsers say which it is; whatever says nothing is none. */
function isForeign(headers: IncomingHttpHeaders, path: string): boolean {
  const site = headers['sec-fetch-site']
  if (site !== 'cross-site' && site !== 'same-site') return false
  return headers['sec-fetch-mode'] !== 'navigate' || headers['sec-fetch-dest'] !== 'document' || path !== '/'
}

function nameOf(host: string): string {
  const [, inBrackets, plain] = /^(?:\[([^\]]*)\]|([^:]*))(?::\d+)?$/.exec(host.toLowerCase()) ?? []
  return inBrackets ?? plain ?? ''
}

function cookieOf({ cookie = '' }: IncomingHttpHeaders, name: string): string | undefined {
  for (const pair of cookie.split(';')) {
    const [key, value] = pair.trim().split('=')
    if (key === name) return value
  }
  return undefined
}

/** Of one length, whatever it is of. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
