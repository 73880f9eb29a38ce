import type { Agent, AgentStop } from '../agents/agent.ts'
import type { Turn } from '../rollout/trajectory.ts'
import type { Shell } from '../wire/shell.ts'
import { makeMemoryShell } from './memory-shell.ts'

/** What an agent finds before it. */
export interface AgentScene {
  readonly prompt: unknown
  /** The JSON Schema that the answer is to fit. Default: none. */
  readonly returns?: Readonly<Record<string, unknown>>
  /** Default: a memory shell without files, which knows no command. */
  readonly shell?: Shell
  /** Default 1. */
  readonly seed?: number
  readonly signal?: AbortSignal
}

/** What came of one run of an agent. */
export interface AgentOutcome {
  readonly answer: unknown
  readonly stop: AgentStop
  /** What it recorded, in order. */
  readonly turns: readonly Turn[]
}

/** One run of an agent with no engine and no environment around it. Rejects with what the agent rejects with. The shell is closed afterwards, as a rollout does. */
export async function runAgent(agent: Agent, scene: AgentScene): Promise<AgentOutcome> {
  const turns: Turn[] = []
  const shell = scene.shell ?? makeMemoryShell()
  try {
    const { answer, stop } = await agent.run({
      prompt: scene.prompt,
      ...(scene.returns === undefined ? {} : { returns: scene.returns }),
      shell: async () => shell,
      seed: scene.seed ?? 1,
      signal: scene.signal ?? new AbortController().signal,
      record: turn => void turns.push(turn),
    })
    return { answer, stop, turns }
  } finally {
    await shell.close()
  }
}
