import { findApiKey } from '../models/request-names.ts'
import { notAPlatformUrl } from './errors.ts'

/** Where HUD's platform is. URLs without a slash at their end. */
export interface PlatformAddresses {
  /** The origin of the platform's API: `/v2` and a path follow. */
  readonly apiUrl: string
  /** Where spans go: `/trace/{id}/telemetry-upload` follows. */
  readonly telemetryUrl: string
  /** Where people look at jobs. */
  readonly webUrl: string
}

/** Where HUD's platform is, and by which key it is asked. */
export interface PlatformOptions extends Partial<PlatformAddresses> {
  /** In place of `HUD_API_KEY`. */
  readonly apiKey?: string
  /** Default: the process's. */
  readonly env?: NodeJS.ProcessEnv
}

const HUD: PlatformAddresses = {
  apiUrl: 'https://api.hud.ai',
  telemetryUrl: 'https://telemetry.hud.ai/v3/api',
  webUrl: 'https://hud.ai',
}

/**
 * What is given, else `HUD_API_URL`, `HUD_TELEMETRY_URL` and `HUD_WEB_URL`, else HUD's own. Where the API is another server and nothing is said
 * of telemetry, that server is taken for it too: a key for one place is not sent to another. Throws `bad-platform-url`.
 */
export function platformAddresses(options: PlatformOptions = {}): PlatformAddresses {
  const { env = process.env } = options
  const apiUrl = toUrl('HUD_API_URL', options.apiUrl ?? env.HUD_API_URL) ?? HUD.apiUrl
  const isHud = apiUrl === HUD.apiUrl
  return {
    apiUrl,
    telemetryUrl:
      toUrl('HUD_TELEMETRY_URL', options.telemetryUrl ?? env.HUD_TELEMETRY_URL) ??
      (isHud ? HUD.telemetryUrl : `${apiUrl}/v3/api`),
    webUrl: toUrl('HUD_WEB_URL', options.webUrl ?? env.HUD_WEB_URL) ?? (isHud ? HUD.webUrl : apiUrl),
  }
}

export function platformKey({ apiKey, env }: PlatformOptions = {}): string | undefined {
  return findApiKey({ apiKey, apiKeyVariable: 'HUD_API_KEY', env })
}

/** Words that HUD's own reader of settings takes for no. */
const NO = ['false', '0', 'no', 'off', 'f', 'n']

/** Whether a command reports without being told to: there is a key, and `HUD_TELEMETRY_ENABLED` does not say no. */
export function isReportingAsked(env: NodeJS.ProcessEnv = process.env): boolean {
  const word = env.HUD_TELEMETRY_ENABLED?.trim().toLowerCase() ?? ''
  return platformKey({ env }) !== undefined && !NO.includes(word)
}

function toUrl(variable: string, text: string | undefined): string | undefined {
  if (text === undefined || text.trim() === '') return undefined
  const trimmed = text.trim()
  if (!URL.canParse(trimmed) || !/^https?:$/.test(new URL(trimmed).protocol)) throw notAPlatformUrl(variable, trimmed)
  return trimmed.replace(/\/+$/, '')
}
