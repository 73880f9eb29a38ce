import { plainJson, plainUrl } from '../config-fields.ts'
import { isOwnEndpoint } from '../own-endpoint.ts'
import type { Zod } from '../schema.ts'

/** What every agent by a provider's own SDK can be told. */
export const sdkFields = (z: Zod) => ({
  model: z.string().min(1).describe('As its provider names it.'),
  baseUrl: plainUrl(z).optional().describe('Unset: the provider’s, or where its own variable points.'),
  apiKeyVariable: z.string().min(1).optional().describe('The environment variable that holds the key.'),
  maxSteps: z.int().min(1).default(30).describe('Messages of the model at most.'),
  maxMalformed: z
    .int()
    .min(1)
    .default(3)
    .describe('Messages in a row with a call that cannot be run which end the rollout.'),
  systemPrompt: z.string().optional().describe('Said before everything else.'),
  mcp: z.boolean().default(true).describe('Whether the tools of the environment’s MCP servers are offered too.'),
  // The system's `fetch` waits for no more.
  stallMs: z
    .int()
    .min(1)
    .max(300_000)
    .default(120_000)
    .describe('Milliseconds without a word in a reply that has begun, or is awaited, after which it counts as lost.'),
})

/** The same, read: what follows from it for asking and for how long. */
export interface SdkSettings {
  readonly model: string
  readonly url: string
  readonly baseUrl: string
  /** It is told which trace a request belongs to. */
  readonly isOwn: boolean
  readonly apiKeyVariable: string | undefined
  /** What goes into each request's body as it is. */
  readonly fields: Readonly<Record<string, unknown>>
  readonly maxSteps: number
  readonly maxMalformed: number
  readonly systemPrompt: string | undefined
  readonly mcp: boolean
  readonly stallMs: number
}

/** Fields of a request's body; those that the agent sets itself are refused. */
export function requestFields(z: Zod, reserved: readonly string[]) {
  return z.record(z.string(), plainJson(z)).superRefine((fields, context) => {
    for (const name of reserved)
      if (name in fields)
        context.addIssue({ code: 'custom', path: [name], message: 'is set by the agent; leave it out' })
  })
}

/** Where a provider is, and which variables say otherwise and hold its key. */
export interface Provider {
  readonly baseUrl: string
  readonly baseUrlVariable: string
  readonly apiKeyVariable: string
  /** What the SDK appends to the base. */
  readonly path: string
}

/** The key of one service is never sent to another: a config that names another place names its key too. */
export function toPlace(
  given: { readonly baseUrl?: string | undefined; readonly apiKeyVariable?: string | undefined },
  provider: Provider,
  env: NodeJS.ProcessEnv,
): Pick<SdkSettings, 'baseUrl' | 'url' | 'isOwn' | 'apiKeyVariable'> {
  const named = given.baseUrl ?? nonEmpty(env[provider.baseUrlVariable])?.replace(/\/+$/, '')
  const baseUrl = named ?? provider.baseUrl
  return {
    baseUrl,
    url: `${baseUrl}${provider.path}`,
    isOwn: isOwnEndpoint(named),
    apiKeyVariable: given.apiKeyVariable ?? (given.baseUrl === undefined ? provider.apiKeyVariable : undefined),
  }
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === undefined || text.trim() === '' ? undefined : text.trim()
}
