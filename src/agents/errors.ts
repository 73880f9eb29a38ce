import { TroupeError } from '../errors.ts'

/** What `createAgent` knows by name. */
export const AGENT_NAMES = ['scripted'] as const

export function unknownAgent(what: string): TroupeError {
  return new TroupeError({
    tag: 'unknown-agent',
    message: `there is no agent "${what}": it is neither a file nor one of ${AGENT_NAMES.join(', ')}; give a module's path (agent.ts, agent.ts#export)`,
    details: { what, known: AGENT_NAMES },
  })
}

export function notAnAgentFactory(url: string, exportName: string, exports: readonly string[]): TroupeError {
  return new TroupeError({
    tag: 'not-an-agent',
    message: `${url} has no agent factory as "${exportName}" (it exports ${exports.join(', ') || 'nothing'}); export default defineAgent(config => …)`,
    address: url,
  })
}

export function badAgentConfig(agent: string, problems: readonly string[]): TroupeError {
  return new TroupeError({
    tag: 'bad-agent-config',
    message: `the agent "${agent}" cannot use its config: ${problems.join('; ')}`,
    details: { agent, problems },
  })
}

export function closureNeedsCallingThread(name: string, threads: number): TroupeError {
  return new TroupeError({
    tag: 'closure-agent',
    message: `the agent "${name}" is a closure and cannot travel to ${threads} worker threads; use threads: 0, or put it in a module and give its path`,
    details: { name, threads },
  })
}
