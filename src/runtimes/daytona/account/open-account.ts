import { createHash } from 'node:crypto'
import type { SandboxApi } from '@daytona/api-client'
import type { Daytona } from '@daytonaio/sdk'
import type { Clock } from '../../../clock.ts'
import { noteSecret } from '../../../redact.ts'
import { makeJointBucket, makeTokenBucket } from '../../token-bucket.ts'
import { makeSandboxEvents } from '../events/events.ts'
import type { Account } from './account.ts'
import { accountReleased, badUrl, noKey } from './errors.ts'
import { findSandbox } from './find-sandbox.ts'
import { makeProviderHttp } from './http.ts'
import { isLoopback } from './loopback.ts'
import { toRegion } from './region.ts'

export interface AccountOptions {
  /** Default: `DAYTONA_API_KEY`. */
  readonly apiKey?: string | undefined
  /** Default: `DAYTONA_API_URL`, else the provider's. */
  readonly apiUrl?: string | undefined
  /** Default: `DAYTONA_TARGET`, else the account's own default. */
  readonly region?: string | undefined
  readonly clock: Clock
}

/** What all holders of an account share. */
interface Shared {
  readonly parts: Omit<Account, 'region' | 'clock' | 'sdk' | 'release'>
  close(): Promise<void>
}

const PROVIDER_URL = 'https://app.daytona.io/api'
const held = new Map<string, { readonly shared: Promise<Shared>; holders: number }>()

/**
 * The account of this key. All who open the same one in this process share its sockets, its event stream and its limit on creates, until the last has
 * released it. Asks nothing of the provider yet. Rejects with `daytona-no-key` or `daytona-bad-url`.
 */
export async function openAccount(options: AccountOptions): Promise<Account> {
  const { apiKey, apiUrl, region } = readAccountSettings(options)
  const { clock } = options
  const name = `${apiUrl}\n${apiKey}`
  const entry = held.get(name) ?? { shared: makeShared(apiUrl, apiKey, clock), holders: 0 }
  held.set(name, entry)
  entry.holders += 1
  let sdk: Promise<Daytona> | undefined
  let released: Promise<void> | undefined

  async function release(): Promise<void> {
    entry.holders -= 1
    const isLast = entry.holders === 0
    if (isLast) held.delete(name)
    const [made, shared] = await Promise.allSettled([sdk, entry.shared])
    if (made.status === 'fulfilled') await made.value?.[Symbol.asyncDispose]()
    if (isLast && shared.status === 'fulfilled') await shared.value.close()
  }

  try {
    const { parts } = await entry.shared
    return {
      ...parts,
      region,
      clock,
      sdk() {
        if (released !== undefined) return Promise.reject(accountReleased())
        sdk ??= loadSdk({ apiKey, apiUrl, ...(region === undefined ? {} : { target: region }) })
        return sdk
      },
      release: () => (released ??= release()),
    }
  } catch (error) {
    await release()
    throw error
  }
}

/** Throws `daytona-no-key` or `daytona-bad-url`. */
export function readAccountSettings(
  options: Omit<AccountOptions, 'clock'>,
  variables: NodeJS.ProcessEnv = process.env,
): { readonly apiKey: string; readonly apiUrl: string; readonly region: string | undefined } {
  const apiUrl = (options.apiUrl ?? toText(variables.DAYTONA_API_URL) ?? PROVIDER_URL).trim().replace(/\/+$/, '')
  if (!isHttpUrl(apiUrl)) throw badUrl(apiUrl)
  const apiKey = toText(options.apiKey ?? variables.DAYTONA_API_KEY)
  if (apiKey === undefined) throw noKey()
  noteSecret(apiKey)
  return { apiKey, apiUrl, region: toRegion(options.region, variables) }
}

/** A variable that is set to nothing is not set. */
function toText(text: string | undefined): string | undefined {
  return text === undefined || text.trim() === '' ? undefined : text.trim()
}

function isHttpUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, search, hash } = new URL(text)
  return (protocol === 'http:' || protocol === 'https:') && search === '' && hash === ''
}

async function makeShared(apiUrl: string, apiKey: string, clock: Clock): Promise<Shared> {
  const [api, toolbox] = await Promise.all([import('@daytona/api-client'), import('@daytona/toolbox-api-client')])
  // The provider's own limit is learned from its answers; nothing is known before.
  const creates = makeJointBucket(makeTokenBucket(undefined))
  const http = makeProviderHttp(creates, clock)
  const baseOptions = { headers: { Authorization: `Bearer ${apiKey}`, 'X-Daytona-Source': 'troupe' } }
  const configuration = new api.Configuration({ basePath: apiUrl, baseOptions })
  const sandboxes: SandboxApi = new api.SandboxApi(configuration, '', http.axios)
  const look = (id: string, signal: AbortSignal) => findSandbox({ sandboxes }, id, { signal })
  const events = makeSandboxEvents({ apiUrl, apiKey, clock, look })
  return {
    parts: {
      apiUrl,
      // Keys are long and random: nobody finds one by its hash.
      word: createHash('sha256').update(`${apiUrl}\n${apiKey}`).digest('hex').slice(0, 16),
      sandboxes,
      snapshots: new api.SnapshotsApi(configuration, '', http.axios),
      warmPools: new api.WarmPoolsApi(configuration, '', http.axios),
      organizations: new api.OrganizationsApi(configuration, '', http.axios),
      creates,
      events,
      processes: ({ id, toolboxProxyUrl }) =>
        new toolbox.ProcessApi(
          new toolbox.Configuration({ basePath: `${toolboxProxyUrl.replace(/\/+$/, '')}/${id}`, baseOptions }),
          '',
          http.axios,
        ),
    },
    close() {
      events.close(accountReleased())
      return http.close()
    },
  }
}

/** The deprecated polling spares a second event stream: builds are polled for anyway. */
async function loadSdk(config: { apiKey: string; apiUrl: string; target?: string }): Promise<Daytona> {
  const { Daytona } = await import('@daytonaio/sdk')
  const sdk = new Daytona({ ...config, useDeprecatedPolling: true })
  if (isLoopback(config.apiUrl)) withoutProxy(sdk)
  return sdk
}

/** The SDK has a client of its own, whose settings it does not take from anybody: they are reached for inside it. */
function withoutProxy({ snapshot }: Daytona): void {
  const { snapshotsApi }: { snapshotsApi?: { axios?: { defaults?: { proxy?: false } } } } = Object.create(snapshot)
  const { defaults } = snapshotsApi?.axios ?? {}
  if (defaults !== undefined) defaults.proxy = false
}
