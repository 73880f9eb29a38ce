import type { z } from 'zod'
import { ANTHROPIC } from '../claude/config.ts'
import { plainUrl } from '../config-fields.ts'
import { badAgentConfig, problemsOf } from '../errors.ts'
import { lazySchema } from '../schema.ts'
import { toPlace } from '../sdk/settings.ts'

/** Also the source of docs/reference/configuration.md. */
export const claudeCodeConfigSchema = lazySchema(z =>
  z.strictObject({
    model: z.string().min(1).optional().describe('Unset: the CLI’s own.'),
    command: z.string().min(1).default('claude').describe('The program, by name or path in the sandbox.'),
    baseUrl: plainUrl(z).optional().describe('Unset: Anthropic’s, or where ANTHROPIC_BASE_URL points.'),
    apiKeyVariable: z.string().min(1).optional().describe('The environment variable that holds the key.'),
    maxSteps: z.int().min(1).optional().describe('Its --max-turns.'),
    systemPrompt: z.string().optional().describe('Added to the CLI’s own.'),
    disallowedTools: z
      .array(z.string().min(1))
      .default([])
      .describe('In the CLI’s words: Bash, Edit, Bash(git log:*).'),
  }),
)

/** A Claude Code agent's config as people write it. Everything has a default. */
export type ClaudeCodeConfig = z.input<ReturnType<typeof claudeCodeConfigSchema>>

/** The same with its defaults. */
export interface ClaudeCodeSettings {
  /** As runs name the agent. */
  readonly name: string
  readonly model: string
  readonly chosenModel: string | undefined
  readonly command: string
  readonly baseUrl: string
  readonly url: string
  readonly apiKeyVariable: string | undefined
  readonly maxSteps: number | undefined
  readonly systemPrompt: string | undefined
  readonly disallowedTools: readonly string[]
}

/** Throws `bad-agent-config`. Looks at no key. */
export function parseClaudeCodeConfig(config: unknown, env: NodeJS.ProcessEnv = process.env): ClaudeCodeSettings {
  const parsed = claudeCodeConfigSchema().safeParse(config)
  if (!parsed.success) throw badAgentConfig('claude-code', problemsOf(parsed.error), parsed.error)
  const { model, command, maxSteps, systemPrompt, disallowedTools } = parsed.data
  return {
    name: model === undefined ? 'claude-code' : `claude-code/${model}`,
    model: model ?? 'claude-code',
    chosenModel: model,
    command,
    ...toPlace(parsed.data, ANTHROPIC, env),
    maxSteps,
    systemPrompt,
    disallowedTools,
  }
}
