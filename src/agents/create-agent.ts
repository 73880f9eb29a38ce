import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { loadModule } from '../modules/load-module.ts'
import type { Agent, AgentFactory, AgentSpec } from './agent.ts'
import { closureNeedsCallingThread, notAnAgentFactory, unknownAgent } from './errors.ts'
import { makeScriptedAgent } from './scripted.ts'

/**
 * An agent as data: `scripted`, a module by path or `file:` URL (`agent.ts`, `agent.ts#exportName`; default export otherwise), an
 * object that is an agent already (which then needs `threads: 0`), or a spec. Throws `unknown-agent`.
 */
export function createAgent(
  what: string | Agent | AgentSpec,
  config: Readonly<Record<string, unknown>> = {},
): AgentSpec {
  if (typeof what !== 'string') return 'run' in what ? { kind: 'closure', agent: what } : what
  if (what === 'scripted') return { kind: 'scripted', config }
  const hash = what.lastIndexOf('#')
  const file = hash < 0 ? what : what.slice(0, hash)
  const path = file.startsWith('file:') ? fileURLToPath(file) : resolve(file)
  if (!existsSync(path)) throw unknownAgent(what)
  return {
    kind: 'module',
    url: pathToFileURL(path).href,
    exportName: hash < 0 ? 'default' : what.slice(hash + 1),
    config,
  }
}

/** Loads an agent in the thread that will run it. Rejects with what is wrong with the module or the config. */
export async function resolveAgent(spec: AgentSpec): Promise<Agent> {
  switch (spec.kind) {
    case 'closure':
      return spec.agent
    case 'scripted':
      return makeScriptedAgent(spec.config)
    case 'module': {
      const exported = await loadModule(spec.url)
      const factory = exported[spec.exportName]
      if (!isFactory(factory)) throw notAnAgentFactory(spec.url, spec.exportName, Object.keys(exported))
      return factory(spec.config)
    }
  }
}

/** Throws `closure-agent` for an agent that cannot travel to the threads it is to run in. */
export function checkAgent(spec: AgentSpec, threads: number): void {
  if (spec.kind === 'closure' && threads > 0) throw closureNeedsCallingThread(spec.agent.name, threads)
}

function isFactory(value: unknown): value is AgentFactory {
  return typeof value === 'function'
}
