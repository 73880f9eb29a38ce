import { hasTag } from '../errors.ts'
import type { ChatTool } from '../models/chat.ts'
import type { AgentContext } from './agent.ts'
import type { Tool, ToolResult } from './chat/tools/index.ts'

/** A tool with what it works on. */
export interface BoundTool {
  /** How a model is offered it, where it is offered as a function. */
  readonly chat: ChatTool
  /** Rejects only with what it works on gone, or aborted. */
  run(given: unknown): Promise<ToolResult>
}

/** Everything that one rollout's model may call, by the name it calls it. */
export interface Toolbox {
  /** Over the workspace's shell; empty where there is none. */
  readonly own: ReadonlyMap<string, BoundTool>
  /** Of the environment's MCP servers. */
  readonly foreign: ReadonlyMap<string, BoundTool>
  find(name: string): BoundTool | undefined
  readonly names: readonly string[]
  close(): Promise<void>
}

/** What is to be in a toolbox. */
export interface Wanted {
  readonly tools: ReadonlyMap<string, Tool>
  readonly mcp: boolean
}

/** Opens the shell and the MCP servers, whichever are wanted and there. Close it. Rejects as those do where they are there and fail. */
export async function openToolbox(context: AgentContext, wanted: Wanted): Promise<Toolbox> {
  const own = await bindTools(context, wanted.tools)
  const mcp = wanted.mcp ? await openMcp(context, new Set(own.keys())) : undefined
  const foreign = mcp?.tools ?? new Map<string, BoundTool>()
  return {
    own,
    foreign,
    find: name => own.get(name) ?? foreign.get(name),
    names: [...own.keys(), ...foreign.keys()],
    close: async () => mcp?.close(),
  }
}

/** None where there is nothing that tools could work on. */
async function bindTools(
  { shell, signal }: AgentContext,
  tools: ReadonlyMap<string, Tool>,
): Promise<ReadonlyMap<string, BoundTool>> {
  if (tools.size === 0) return new Map()
  try {
    const place = { shell: await shell(), signal }
    return new Map(
      [...tools].map(([name, { chat, run }]) => [name, { chat, run: (given: unknown) => run(given, place) }]),
    )
  } catch (error) {
    if (hasTag(error, 'no-shell')) return new Map()
    throw error
  }
}

async function openMcp(context: AgentContext, taken: ReadonlySet<string>) {
  const { session } = context
  if (session === undefined || !session.bindings.some(({ protocol }) => protocol.startsWith('mcp/'))) return undefined
  // Loaded where an environment has such a server: most have none.
  const { openMcpTools } = await import('./mcp/open-mcp-tools.ts')
  return openMcpTools({ session, signal: context.signal }, taken)
}
