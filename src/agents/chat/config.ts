import type { z } from 'zod'
import { hudEndpoint } from '../../models/endpoint.ts'
import { findApiKey } from '../../models/request-names.ts'
import { plainJson, plainUrl } from '../config-fields.ts'
import { badAgentConfig, problemsOf } from '../errors.ts'
import { isOwnEndpoint } from '../own-endpoint.ts'
import { lazySchema, type Zod } from '../schema.ts'
import { noKey } from './errors.ts'
import { TOOL_NAMES, type ToolName } from './tools/index.ts'

/** What the agent itself puts into each request. */
const RESERVED = ['model', 'messages', 'stream', 'tools', 'prompt_token_ids', 'continuation_from']

const kwargsSchema = (z: Zod) =>
  z
    .object({ extra_body: z.record(z.string(), plainJson(z)).optional() })
    .catchall(plainJson(z))
    .superRefine((kwargs, context) => {
      const refuse = (given: Readonly<Record<string, unknown>>, path: readonly string[]) => {
        for (const name of RESERVED)
          if (name in given)
            context.addIssue({ code: 'custom', path: [...path, name], message: 'is set by the agent; leave it out' })
      }
      refuse(kwargs, [])
      refuse(kwargs.extra_body ?? {}, ['extra_body'])
    })

/** Also the source of docs/reference/configuration.md. */
export const chatConfigSchema = lazySchema(z =>
  z.strictObject({
    model: z.string().min(1).describe('The slug by which the service knows it.'),
    endpoint: z
      .strictObject({
        apiUrl: plainUrl(z).optional(),
        rlUrl: plainUrl(z).optional(),
        inferenceUrl: plainUrl(z).optional(),
        apiKeyVariable: z.string().min(1).optional(),
      })
      .default({})
      .describe(
        'Where it is served, and the variable that holds the key: apiUrl, rlUrl, inferenceUrl, apiKeyVariable. Unset: HUD’s.',
      ),
    completionKwargs: kwargsSchema(z).default({}).describe('Goes into every request’s body, extra_body merged in.'),
    maxSteps: z.int().min(1).default(10).describe('Turns at most.'),
    maxMalformed: z
      .int()
      .min(1)
      .default(3)
      .describe('Turns in a row with a call that cannot be run which end the rollout.'),
    systemPrompt: z.string().optional().describe('Said before everything else.'),
    tools: z.array(z.enum(TOOL_NAMES)).optional().describe('What the model may call. Unset: all of them.'),
    mcp: z.boolean().default(true).describe('Whether the tools of the environment’s MCP servers are offered too.'),
    connections: z
      .int()
      .min(1)
      .optional()
      .describe('Connections of a thread at most. Unset: as many as wait for a completion.'),
    requireTokens: z
      .boolean()
      .optional()
      .describe('A turn without token ids and logprobs is an error. Unset: where they are asked for.'),
    answers: z
      .enum(['auto', 'asked', 'as-said'])
      .default('auto')
      .describe(
        'How a template’s schema for the answer is met: by the service and the prompt, by the prompt alone, not at all.',
      ),
  }),
)

/** A chat agent's config as people write it. Everything but `model` has a default. */
export type ChatConfig = z.input<ReturnType<typeof chatConfigSchema>>

/** The same with its defaults, and what follows from it. */
export interface ChatSettings {
  readonly model: string
  /** The URL that completions are posted to. */
  readonly url: string
  /** It is told which trace a request belongs to. */
  readonly isOwn: boolean
  readonly apiKeyVariable: string | undefined
  /** What goes into each request's body as it is, `extra_body` merged in. */
  readonly bodyFields: Readonly<Record<string, unknown>>
  /** `return_token_ids` is among them. */
  readonly wantsTokens: boolean
  /** A turn without token ids and logprobs is an error. */
  readonly requireTokens: boolean
  readonly maxSteps: number
  /** Steps in a row with a call that cannot be run which end the rollout: the model has lost the thread. */
  readonly maxMalformed: number
  readonly systemPrompt: string | undefined
  readonly tools: readonly ToolName[]
  /** Whether the tools of the environment's MCP servers are offered too. */
  readonly mcp: boolean
  /**
   * How a template's schema for the answer is met. `asked`: the prompt says it, and the JSON in the last message is the answer. `auto`: the server is asked, too,
   * where no tools are offered. `as-said`: it is not looked at.
   */
  readonly answers: 'auto' | 'asked' | 'as-said'
  /** Connections at most in each thread; undefined: as many as it has rollouts that wait for a completion. */
  readonly connections: number | undefined
}

/** Throws `bad-agent-config`. Looks at no key. */
export function parseChatConfig(config: unknown, env: NodeJS.ProcessEnv = process.env): ChatSettings {
  const parsed = chatConfigSchema().safeParse(config)
  if (!parsed.success) throw badAgentConfig('chat', problemsOf(parsed.error), parsed.error)
  const { model, endpoint, maxSteps, maxMalformed, systemPrompt, connections, mcp, answers } = parsed.data
  const { extra_body: extraBody, ...kwargs } = parsed.data.completionKwargs
  const fields: Readonly<Record<string, unknown>> = { ...kwargs, ...extraBody }
  const wantsTokens = fields.return_token_ids === true
  const requireTokens = parsed.data.requireTokens ?? wantsTokens
  if (requireTokens && !wantsTokens)
    throw badAgentConfig('chat', [
      'requireTokens: needs completionKwargs.extra_body.return_token_ids, without which no server gives them',
    ])
  const hud = hudEndpoint(env)
  return {
    model,
    url: `${endpoint.inferenceUrl ?? hud.inferenceUrl}/chat/completions`,
    isOwn: isOwnEndpoint(endpoint.inferenceUrl),
    // The key of one service is never sent to another: whoever names another place names its key too.
    apiKeyVariable: endpoint.apiKeyVariable ?? (endpoint.inferenceUrl === undefined ? hud.apiKeyVariable : undefined),
    bodyFields: wantsTokens ? { logprobs: true, ...fields } : fields,
    wantsTokens,
    requireTokens,
    maxSteps,
    maxMalformed,
    systemPrompt,
    tools: parsed.data.tools ?? TOOL_NAMES,
    mcp,
    answers,
    connections,
  }
}

/** The endpoint's key, from this process's environment; undefined where none is asked for. Throws `no-key`. */
export function readKey(
  { model, apiKeyVariable }: Pick<ChatSettings, 'model' | 'apiKeyVariable'>,
  env: NodeJS.ProcessEnv = process.env,
): string | undefined {
  if (apiKeyVariable === undefined) return undefined
  const key = findApiKey({ apiKeyVariable, env })
  if (key === undefined) throw noKey(model, apiKeyVariable)
  return key
}
