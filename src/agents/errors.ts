import { TroupeError } from '../errors.ts'

/** What `createAgent` knows by name. */
export const AGENT_NAMES = ['scripted'] as const

export function unknownAgent(what: string): TroupeError {
  return new TroupeError({
    tag: 'unknown-agent',
    address: what,
    message: `there is no agent "${what}": it is neither a file, nor one of ${AGENT_NAMES.join(', ')}, nor a model's slug. Give the path of a module (agent.ts, agent.ts#exportName), or a slug (org/name), after who serves it where that is to be said (anthropic/, openai/, openai-compatible/, hud/, claude-code).`,
    details: { what, known: AGENT_NAMES },
  })
}

export function noAgent(url: string, exportName: string, exports: readonly string[]): TroupeError {
  return new TroupeError({
    tag: 'no-agent',
    address: url,
    message: `${url} exports no agent factory as "${exportName}": it has ${exports.join(', ') || 'nothing'}. Export default defineAgent(config => …), or name another export after a #.`,
    details: { exportName, exports },
  })
}

export function notAnAgent(value: unknown, place?: string): TroupeError {
  const text =
    typeof value === 'object' && value !== null
      ? `an object with ${Object.keys(value).join(', ') || 'nothing'}`
      : String(value)
  return new TroupeError({
    tag: 'not-an-agent',
    message: `${place === undefined ? '' : `${place} gave `}${text}${place === undefined ? ' is' : ', which is'} no agent: an agent has a name and run(context).`,
    ...(place === undefined ? {} : { address: place }),
  })
}

export function badAgentConfig(agent: string, problems: readonly string[], cause?: unknown): TroupeError {
  return new TroupeError(
    {
      tag: 'bad-agent-config',
      address: agent,
      message: `the agent "${agent}" cannot use its config: ${problems.join('; ')}. Correct it and start again.`,
      details: { agent, problems },
    },
    cause,
  )
}

/** What a factory threw; a schema's complaints are taken apart, one of ours passes as it is. */
export function agentConfigFailed(agent: string, thrown: unknown): TroupeError {
  if (thrown instanceof TroupeError) return thrown
  return badAgentConfig(agent, problemsOf(thrown), thrown)
}

export function closureNeedsCallingThread(name: string, threads: number): TroupeError {
  return new TroupeError({
    tag: 'closure-agent',
    address: name,
    message: `the agent "${name}" is a closure and cannot travel to ${threads} worker thread${threads === 1 ? '' : 's'}. Use threads: 0, or put it in a module and give its path.`,
    details: { name, threads },
  })
}

/** zod's own errors say everything in `issues`, whichever copy of zod threw them. */
export function problemsOf(thrown: unknown): readonly string[] {
  const issues: unknown =
    typeof thrown === 'object' && thrown !== null && 'issues' in thrown ? thrown.issues : undefined
  if (!Array.isArray(issues)) return [thrown instanceof Error ? thrown.message : String(thrown)]
  return issues.map(
    ({ path, message }) => `${Array.isArray(path) && path.length > 0 ? path.join('.') : 'config'}: ${message}`,
  )
}

export function badPrompt(why: string): TroupeError {
  return new TroupeError({
    tag: 'bad-prompt',
    message: `the agent cannot show this prompt to a model: ${why}. A prompt is text, or a list of chat messages with text and, from the user, images.`,
  })
}
