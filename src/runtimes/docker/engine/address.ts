import { homedir } from 'node:os'
import { join } from 'node:path'
import { badHost, type LookedAt } from '../errors.ts'

/** Where an engine is. */
export interface EngineAddress extends LookedAt {
  readonly at:
    | { readonly kind: 'unix'; readonly path: string }
    | {
        readonly kind: 'tcp'
        readonly host: string
        readonly port: number
        /** The folder with the client's certificates; undefined where the engine speaks plain HTTP. */
        readonly certificates: string | undefined
      }
  /** Whether what it publishes on its 127.0.0.1 is published on ours. */
  readonly isHere: boolean
}

type Variables = Readonly<Record<string, string | undefined>>

const DEFAULT = 'unix:///var/run/docker.sock'

/** Pure. What is given goes before `DOCKER_HOST`, and that before the default socket. Throws `docker-bad-host`. */
export function readEngineAddress(given: string | undefined, variables: Variables): EngineAddress {
  const told = variables.DOCKER_HOST?.trim() ?? ''
  const origin = given !== undefined ? 'option' : told !== '' ? 'DOCKER_HOST' : 'default'
  const text = given ?? (told !== '' ? told : DEFAULT)
  const at = parseUnix(text) ?? parseTcp(text, variables)
  if (at === undefined) throw badHost(text, origin === 'option' ? 'the option `host`' : 'DOCKER_HOST')
  return { text, origin, at, isHere: at.kind === 'unix' || isLoopback(at.host) }
}

function parseUnix(text: string): EngineAddress['at'] | undefined {
  const path = /^unix:\/\/(\/.+)$/.exec(text)?.[1]
  return path === undefined ? undefined : { kind: 'unix', path }
}

function parseTcp(text: string, variables: Variables): EngineAddress['at'] | undefined {
  if (!/^tcp:\/\/./.test(text) || !URL.canParse(text)) return undefined
  const { hostname, port, pathname, search, username } = new URL(text)
  if (hostname === '' || pathname.length > 1 || search !== '' || username !== '') return undefined
  const certificates =
    (variables.DOCKER_TLS_VERIFY ?? '') === ''
      ? undefined
      : (variables.DOCKER_CERT_PATH ?? join(variables.HOME ?? homedir(), '.docker'))
  const standard = certificates === undefined ? 2_375 : 2_376
  // A URL keeps the brackets of an IPv6 address, and sockets want none.
  return {
    kind: 'tcp',
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? standard : Number(port),
    certificates,
  }
}

const isLoopback = (host: string): boolean => /^(localhost|127\.\d+\.\d+\.\d+|::1)$/i.test(host)
