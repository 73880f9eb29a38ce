import type { z } from 'zod'
import { badAgentConfig, problemsOf } from '../errors.ts'
import { lazySchema } from '../schema.ts'
import { type Provider, requestFields, type SdkSettings, sdkFields, toPlace } from '../sdk/settings.ts'

/** Anthropic's own service, and the variables that its SDK reads. */
export const ANTHROPIC: Provider = {
  baseUrl: 'https://api.anthropic.com',
  baseUrlVariable: 'ANTHROPIC_BASE_URL',
  apiKeyVariable: 'ANTHROPIC_API_KEY',
  path: '/v1/messages',
}

/** The tools that Claude models are trained to use. */
export const CLAUDE_TOOLS = ['bash', 'editor'] as const

/** Also the source of docs/reference/configuration.md. */
export const claudeConfigSchema = lazySchema(z =>
  z.strictObject({
    ...sdkFields(z),
    maxTokens: z.int().min(1).default(16_384).describe('Of each message.'),
    tools: z
      .array(z.enum(CLAUDE_TOOLS))
      .default([...CLAUDE_TOOLS])
      .describe('What the model may call.'),
    request: requestFields(z, ['model', 'messages', 'stream', 'tools', 'system', 'max_tokens'])
      .default({})
      .describe('Further fields of each request: temperature, thinking, …'),
  }),
)

/** A Claude agent's config as people write it. Everything but `model` has a default. */
export type ClaudeConfig = z.input<ReturnType<typeof claudeConfigSchema>>

/** The same with its defaults. */
export interface ClaudeSettings extends SdkSettings {
  readonly maxTokens: number
  readonly tools: readonly (typeof CLAUDE_TOOLS)[number][]
}

/** Throws `bad-agent-config`. Looks at no key. */
export function parseClaudeConfig(config: unknown, env: NodeJS.ProcessEnv = process.env): ClaudeSettings {
  const parsed = claudeConfigSchema().safeParse(config)
  if (!parsed.success) throw badAgentConfig('claude', problemsOf(parsed.error), parsed.error)
  const { request, baseUrl, apiKeyVariable, systemPrompt, ...rest } = parsed.data
  return { ...rest, ...toPlace({ baseUrl, apiKeyVariable }, ANTHROPIC, env), systemPrompt, fields: request }
}
