import type { Turn } from '../rollout/trajectory.ts'
import type { ControlSession } from '../wire/session.ts'
import type { Shell } from '../wire/shell.ts'

/** The agents that this package brings and that a model is behind. */
export type ModelAgentKind = 'chat' | 'claude' | 'openai' | 'claude-code'

/** One of them as data. */
export type ModelAgentSpec<Kind extends ModelAgentKind = ModelAgentKind> = Kind extends ModelAgentKind
  ? {
      readonly kind: Kind
      readonly config: Readonly<Record<string, unknown>>
      /** What was chosen for the name of a model and why, for people; absent where nothing was left to choose. */
      readonly why?: string
    }
  : never

/**
 * Which agent, as data that can travel to a thread. The config of one with a model names the model and never holds a key: that is read from
 * the environment of the thread that runs it. A `module` agent is loaded in that thread: its export is an `AgentFactory`. A `closure`
 * lives only in the thread that made it and so needs `threads: 0`.
 */
export type AgentSpec =
  | { readonly kind: 'scripted'; readonly config: Readonly<Record<string, unknown>> }
  | ModelAgentSpec
  | {
      readonly kind: 'module'
      readonly url: string
      readonly exportName: string
      readonly config: Readonly<Record<string, unknown>>
    }
  | { readonly kind: 'closure'; readonly agent: Agent }

/** An agent as actors name it: data in every case. A closure is named by the key under which the engine holds it. */
export type AgentRef =
  | Exclude<AgentSpec, { readonly kind: 'closure' }>
  | { readonly kind: 'held'; readonly key: string }

/** Makes an agent from the config of its spec. Throws on a config it cannot use, before anything costly starts. */
export type AgentFactory = (config: Readonly<Record<string, unknown>>) => Agent

/** Why an agent stopped by itself. */
export type AgentStop = 'done' | 'max-steps' | 'length' | 'malformed-tool-call'

export interface AgentContext {
  /** What the template asked for, as it said it: text, or chat messages. `promptMessages` and `promptText` read both. */
  readonly prompt: unknown
  /** The JSON Schema that the answer is to fit, where the template has one. An answer may be any JSON value. */
  readonly returns?: Readonly<Record<string, unknown>>
  /** Opens the workspace's shell; rejects with `no-shell` where the environment offers none. The rollout closes it. */
  shell(): Promise<Shell>
  /** What the environment offers beside the shell, and a raw stream to each of it; absent where no session is behind. */
  readonly session?: Pick<ControlSession, 'bindings' | 'openTunnel'>
  /** Seeds everything random this agent does. */
  readonly seed: number
  /** Aborts at the agent phase's deadline and on cancel. */
  readonly signal: AbortSignal
  /** What the agent's work is part of, as a W3C `traceparent`: for requests to a model of one's own. Absent where nobody draws the rollout. */
  readonly traceparent?: string
  /** Appends one turn to the trajectory. */
  record(turn: Turn): void
}

/** Works on one task at a time per call; many calls run at once in one thread. */
export interface Agent {
  readonly name: string
  /** Resolves with the answer that is graded. */
  run(context: AgentContext): Promise<{ readonly answer: unknown; readonly stop: AgentStop }>
}

/**
 * Types a module's export as an agent factory. With a schema (zod's, or whatever has `parse`), the config is read by it first, and its type
 * is the schema's.
 */
export function defineAgent(factory: AgentFactory): AgentFactory
export function defineAgent<Config>(schema: ConfigSchema<Config>, factory: (config: Config) => Agent): AgentFactory
export function defineAgent<Config>(
  first: AgentFactory | ConfigSchema<Config>,
  second?: (config: Config) => Agent,
): AgentFactory {
  if (typeof first === 'function') return first
  return given => {
    if (second === undefined) throw new TypeError('defineAgent: after a schema comes the factory')
    return second(first.parse(given))
  }
}

/** Reads an agent's config, and throws what is wrong with it. */
export interface ConfigSchema<Config> {
  parse(given: unknown): Config
}
