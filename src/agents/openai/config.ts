import type { z } from 'zod'
import { TOOL_NAMES, type ToolName } from '../chat/tools/index.ts'
import { badAgentConfig, problemsOf } from '../errors.ts'
import { lazySchema } from '../schema.ts'
import { type Provider, requestFields, type SdkSettings, sdkFields, toPlace } from '../sdk/settings.ts'

/** OpenAI's own service, and the variables that its SDK reads. */
export const OPENAI: Provider = {
  baseUrl: 'https://api.openai.com/v1',
  baseUrlVariable: 'OPENAI_BASE_URL',
  apiKeyVariable: 'OPENAI_API_KEY',
  path: '/responses',
}

/** Also the source of docs/reference/configuration.md. */
export const openAiConfigSchema = lazySchema(z =>
  z.strictObject({
    ...sdkFields(z),
    tools: z
      .array(z.enum(TOOL_NAMES))
      .default([...TOOL_NAMES])
      .describe('What the model may call.'),
    shell: z
      .enum(['function', 'native'])
      .default('function')
      .describe('native: the service’s own shell tool in place of the function bash, for models that know it.'),
    request: requestFields(z, ['model', 'input', 'stream', 'tools', 'instructions', 'store', 'background'])
      .default({})
      .describe('Further fields of each request: temperature, reasoning, max_output_tokens, …'),
  }),
)

/** An OpenAI agent's config as people write it. Everything but `model` has a default. */
export type OpenAiConfig = z.input<ReturnType<typeof openAiConfigSchema>>

/** The same with its defaults. */
export interface OpenAiSettings extends SdkSettings {
  readonly tools: readonly ToolName[]
  /** `native`: the service's own shell tool in place of the function `bash`, for models that know it. */
  readonly shell: 'function' | 'native'
}

/** Throws `bad-agent-config`. Looks at no key. */
export function parseOpenAiConfig(config: unknown, env: NodeJS.ProcessEnv = process.env): OpenAiSettings {
  const parsed = openAiConfigSchema().safeParse(config)
  if (!parsed.success) throw badAgentConfig('openai', problemsOf(parsed.error), parsed.error)
  const { request, baseUrl, apiKeyVariable, systemPrompt, ...rest } = parsed.data
  const fields = { ...(reasons(rest.model) ? { include: ['reasoning.encrypted_content'] } : {}), ...request }
  return { ...rest, ...toPlace({ baseUrl, apiKeyVariable }, OPENAI, env), systemPrompt, fields }
}

/**
 * Nothing is stored at the service, so that what a model reasoned has to travel with the conversation, sealed. Models that do not reason refuse
 * to be asked for it; `request: { include: [] }` says so of one that this rule does not know.
 */
function reasons(model: string): boolean {
  return /^(openai\/)?(o\d|gpt-([5-9]|\d\d)|codex)/.test(model) && !model.includes('-chat')
}
