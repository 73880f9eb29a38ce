import { existsSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { ServedModel } from '../models/endpoint.ts'
import { loadModule } from '../modules/load-module.ts'
import type { Agent, AgentFactory, AgentSpec, ModelAgentKind } from './agent.ts'
import { parseChatConfig, readKey } from './chat/config.ts'
import { chooseAgent, PROVIDERS } from './choose-agent.ts'
import { parseClaudeConfig } from './claude/config.ts'
import { parseClaudeCodeConfig } from './claude-code/config.ts'
import {
  agentConfigFailed,
  badAgentConfig,
  closureNeedsCallingThread,
  noAgent,
  notAnAgent,
  unknownAgent,
} from './errors.ts'
import { parseOpenAiConfig } from './openai/config.ts'
import { makeScriptedAgent } from './scripted.ts'

type Config = Readonly<Record<string, unknown>>

/**
 * An agent as data: `scripted`, a module by path or `file:` URL (`agent.ts`, `agent.ts#exportName`; default export otherwise), the name
 * of a model (`name`, `org/name`, `name:tag`, `provider/name`; `chooseAgent` tells which agent asks it, and the spec's `why` says so), a
 * model with its endpoint, or a spec. An agent or a factory in hand becomes a closure, which needs `threads: 0`. Throws `unknown-agent`;
 * `bad-agent-config` for a config that nothing would read; for a model also `no-key`.
 */
export function createAgent(what: string | ServedModel | Agent | AgentFactory | AgentSpec, config?: Config): AgentSpec {
  if (typeof what === 'string') return parseAgent(what, config ?? {})
  if (typeof what === 'function') return { kind: 'closure', agent: makeAgent('the factory', what, config ?? {}) }
  if (isServedModel(what)) return makeModelSpec(what.model, { endpoint: { ...what.endpoint }, ...config })
  const spec: unknown = what
  if (typeof spec !== 'object' || spec === null || !('run' in what || 'kind' in what)) throw notAnAgent(what)
  if (config !== undefined && Object.keys(config).length > 0)
    throw badAgentConfig('run' in what ? what.name : what.kind, [
      'it is made already: pass the config where it is made',
    ])
  return 'run' in what ? { kind: 'closure', agent: what } : what
}

function parseAgent(text: string, config: Config): AgentSpec {
  if (text === 'scripted') return { kind: 'scripted', config }
  // A path may hold a # itself; then the whole of it is a file. A URL writes it %23.
  const isWhole = !text.startsWith('file:') && isFile(toPath(text))
  const hash = isWhole ? -1 : text.lastIndexOf('#')
  const path = toPath(hash < 0 ? text : text.slice(0, hash))
  if (!isFile(path)) {
    if (isSlug(text) && !looksLikeModule(text)) return makeModelSpec(text, config)
    throw unknownAgent(text)
  }
  const exportName = hash < 0 ? 'default' : text.slice(hash + 1)
  return { kind: 'module', url: pathToFileURL(path).href, exportName, config }
}

const SLUG = /^[a-z0-9][\w.-]*(\/[a-z0-9][\w.-]*)?(:[\w.-]+)?$/i

/** Who is to be asked may stand before the slug: `openai-compatible/org/name`. */
function isSlug(text: string): boolean {
  const provider = PROVIDERS.find(name => text.startsWith(`${name}/`))
  return SLUG.test(provider === undefined ? text : text.slice(provider.length + 1))
}

/** A missing file is a mistake in its path, and not the name of a model. */
function looksLikeModule(text: string): boolean {
  return /^(\.\.?\/|\/|file:)/.test(text) || /\.[mc]?[jt]s(#|$)/.test(text)
}

function isServedModel(what: unknown): what is ServedModel {
  return typeof what === 'object' && what !== null && 'endpoint' in what && 'model' in what
}

function makeModelSpec(model: string, given: Config): AgentSpec {
  if ('model' in given) throw badAgentConfig(model, ['model: is given already, as the agent'])
  const choice = chooseAgent(model, given)
  // Both are asked again where it runs; here they are known before anything is started.
  readKey(PARSERS[choice.kind](choice.config))
  return choice
}

/** What every config of an agent with a model says of its key. */
type Keyed = Parameters<typeof readKey>[0]

const PARSERS: Readonly<Record<ModelAgentKind, (config: Config) => Keyed>> = {
  chat: config => parseChatConfig(config),
  claude: config => parseClaudeConfig(config),
  openai: config => parseOpenAiConfig(config),
  'claude-code': config => parseClaudeCodeConfig(config),
}

function isFile(path: string): boolean {
  return existsSync(path) && statSync(path).isFile()
}

function toPath(file: string): string {
  return file.startsWith('file:') ? fileURLToPath(file) : resolve(file)
}

/**
 * Loads an agent in the thread that will run it. Rejects with what loading the module throws, `no-agent` when the export is no
 * agent factory, `bad-agent-config`, and `no-key`.
 */
export async function resolveAgent(spec: AgentSpec): Promise<Agent> {
  switch (spec.kind) {
    case 'closure':
      return spec.agent
    case 'scripted':
      return makeScriptedAgent(spec.config)
    case 'chat':
      // Loaded when first needed: most programs talk to no model.
      return (await import('./chat/chat-agent.ts')).makeChatAgent(spec.config)
    case 'claude':
      return (await import('./claude/claude-agent.ts')).makeClaudeAgent(spec.config)
    case 'openai':
      return (await import('./openai/openai-agent.ts')).makeOpenAiAgent(spec.config)
    case 'claude-code':
      return (await import('./claude-code/claude-code-agent.ts')).makeClaudeCodeAgent(spec.config)
    case 'module': {
      const exported = await loadModule(spec.url)
      const factory = exported[spec.exportName]
      if (!isFactory(factory)) throw noAgent(spec.url, spec.exportName, Object.keys(exported))
      return makeAgent(`${spec.url}#${spec.exportName}`, factory, spec.config)
    }
  }
}

/** Throws `closure-agent` for an agent that cannot travel to the threads it is to run in. */
export function checkAgent(spec: AgentSpec, threads: number): void {
  if (spec.kind === 'closure' && threads > 0) throw closureNeedsCallingThread(spec.agent.name, threads)
}

function makeAgent(place: string, factory: AgentFactory, config: Config): Agent {
  let agent: Agent
  try {
    agent = factory(config)
  } catch (error) {
    throw agentConfigFailed(place, error)
  }
  const made: unknown = agent
  if (typeof made !== 'object' || made === null || !('run' in made) || typeof made.run !== 'function')
    throw notAnAgent(made, place)
  return agent
}

function isFactory(value: unknown): value is AgentFactory {
  return typeof value === 'function'
}
