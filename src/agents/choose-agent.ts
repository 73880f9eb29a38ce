import { hudEndpoint } from '../models/endpoint.ts'
import { findApiKey } from '../models/request-names.ts'
import type { ModelAgentSpec } from './agent.ts'

type Config = Readonly<Record<string, unknown>>

/** What stands before a model's name and says who is asked for it. */
export const PROVIDERS = ['anthropic', 'openai', 'openai-compatible', 'hud', 'claude-code'] as const

/**
 * A model's name, with or without who serves it, as an agent. An endpoint in the config decides; then a prefix (`anthropic/`, `openai/`,
 * `openai-compatible/`, `hud/`, `claude-code`); then whose model it is by its name, and which keys and base URLs are there. Looks at
 * variables for whether they are set, and takes no key out of them.
 */
export function chooseAgent(name: string, given: Config, env: NodeJS.ProcessEnv = process.env): ModelAgentSpec {
  if ('endpoint' in given) return { kind: 'chat', config: { model: name, ...given } }
  const slash = name.indexOf('/')
  const prefix = slash < 0 ? name : name.slice(0, slash)
  const rest = slash < 0 ? undefined : name.slice(slash + 1)
  return byPrefix(prefix, rest, given, env) ?? byKeys(name, given, env)
}

function byPrefix(
  prefix: string,
  model: string | undefined,
  given: Config,
  env: NodeJS.ProcessEnv,
): ModelAgentSpec | undefined {
  if (prefix === 'claude-code') {
    const usesGateway = !('baseUrl' in given) && !has('ANTHROPIC_API_KEY', env) && has('HUD_API_KEY', env)
    const by = usesGateway ? " through HUD's gateway" : ''
    const why = `the Claude Code CLI in the sandbox${model === undefined ? '' : ` with ${model}`}${by}, as the name says`
    const config = { ...(model === undefined ? {} : { model }), ...(usesGateway ? messagesGateway(env) : {}), ...given }
    return { kind: 'claude-code', config, why }
  }
  if (model === undefined) return undefined
  const said = `because the name begins with ${prefix}/`
  switch (prefix) {
    case 'anthropic':
      return { kind: 'claude', config: { model, ...given }, why: `${model} by Anthropic's SDK, ${said}` }
    case 'openai':
      return { kind: 'openai', config: { model, ...given }, why: `${model} by OpenAI's SDK, ${said}` }
    case 'openai-compatible': {
      const place = compatible(env)
      const config = { model, endpoint: place ?? { inferenceUrl: OPENAI_URL, apiKeyVariable: 'OPENAI_API_KEY' } }
      const where = place?.inferenceUrl ?? OPENAI_URL
      return { kind: 'chat', config: { ...config, ...given }, why: `${model} by chat completions at ${where}, ${said}` }
    }
    case 'hud':
      return { kind: 'chat', config: { model, ...given }, why: `${model} by HUD's gateway, ${said}` }
    default:
      return undefined
  }
}

const OPENAI_URL = 'https://api.openai.com/v1'

function byKeys(model: string, given: Config, env: NodeJS.ProcessEnv): ModelAgentSpec {
  const hasOwnPlace = 'baseUrl' in given
  if (/^claude-/.test(model)) {
    if (hasOwnPlace || has('ANTHROPIC_API_KEY', env) || !has('HUD_API_KEY', env))
      return { kind: 'claude', config: { model, ...given }, why: why("Anthropic's SDK", 'ANTHROPIC_API_KEY') }
    const words = `${model} by Anthropic's SDK through HUD's gateway: HUD_API_KEY is set and ANTHROPIC_API_KEY is not`
    return { kind: 'claude', config: { model, ...messagesGateway(env), ...given }, why: words }
  }
  if (/^(gpt-(?!oss)|o\d|chatgpt-|codex-)/.test(model)) {
    if (hasOwnPlace || has('OPENAI_API_KEY', env) || !has('HUD_API_KEY', env))
      return { kind: 'openai', config: { model, ...given }, why: why("OpenAI's SDK", 'OPENAI_API_KEY') }
    const gateway = { baseUrl: hudEndpoint(env).inferenceUrl, apiKeyVariable: 'HUD_API_KEY' }
    const words = `${model} by OpenAI's SDK through HUD's gateway: HUD_API_KEY is set and OPENAI_API_KEY is not`
    return { kind: 'openai', config: { model, ...gateway, ...given }, why: words }
  }
  const place = compatible(env)
  if (has('HUD_API_KEY', env) || place === undefined)
    return { kind: 'chat', config: { model, ...given }, why: why("HUD's gateway", 'HUD_API_KEY') }
  const words = `${model} by chat completions at ${place.inferenceUrl}: OPENAI_BASE_URL is set and HUD_API_KEY is not`
  return { kind: 'chat', config: { model, endpoint: place, ...given }, why: words }

  function why(by: string, variable: string): string {
    const place = hasOwnPlace
      ? 'the config names its base URL'
      : `${variable} is ${has(variable, env) ? 'set' : 'what it needs'}`
    return `${model} by ${by}: ${place}`
  }
}

/** HUD's gateway serves Anthropic's messages beside its chat completions. */
function messagesGateway(env: NodeJS.ProcessEnv): { readonly baseUrl: string; readonly apiKeyVariable: string } {
  return { baseUrl: hudEndpoint(env).inferenceUrl.replace(/\/v1$/, ''), apiKeyVariable: 'HUD_API_KEY' }
}

function has(apiKeyVariable: string, env: NodeJS.ProcessEnv): boolean {
  return findApiKey({ apiKeyVariable, env }) !== undefined
}

/** Where `OPENAI_BASE_URL` points, with the key that goes there: vLLM, SGLang and most gateways are told apart by it alone. */
function compatible(env: NodeJS.ProcessEnv): { inferenceUrl: string; apiKeyVariable?: string } | undefined {
  const inferenceUrl = env.OPENAI_BASE_URL?.trim().replace(/\/+$/, '')
  if (inferenceUrl === undefined || inferenceUrl === '') return undefined
  return { inferenceUrl, ...(has('OPENAI_API_KEY', env) ? { apiKeyVariable: 'OPENAI_API_KEY' } : {}) }
}
