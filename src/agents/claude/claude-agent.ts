import { type Clock, systemClock } from '../../clock.ts'
import type { Agent, AgentContext, AgentStop } from '../agent.ts'
import { readKey } from '../chat/config.ts'
import { type Origins, threadOrigins } from '../chat/origins.ts'
import { promptMessages } from '../prompt.ts'
import type { SdkPorts } from '../sdk/ask-sdk.ts'
import { openToolbox } from '../toolbox.ts'
import { takeTurns } from '../turns.ts'
import { type ClaudeSettings, parseClaudeConfig } from './config.ts'
import { makeClaudeDialogue } from './dialogue.ts'
import { type ClaudeClient, makeClaudeClient } from './sdk.ts'
import { nativeTools } from './tools/index.ts'

export interface ClaudeAgentPorts {
  readonly clock?: Clock
  /** Where the key and the base URL are read from. */
  readonly env?: NodeJS.ProcessEnv
  /** What is known of services' health. Default: what all agents of the thread share. */
  readonly origins?: Origins
}

/**
 * A Claude model by Anthropic's SDK, with the tools that such models know (bash, text editor) over the workspace's shell, and those of the
 * environment's MCP servers. Its turns have no token ids: the service gives none. Rejects with `bad-agent-config` or `no-key`.
 */
export async function makeClaudeAgent(
  config: Readonly<Record<string, unknown>>,
  ports: ClaudeAgentPorts = {},
): Promise<Agent> {
  const settings = parseClaudeConfig(config, ports.env)
  const key = readKey(settings, ports.env)
  const client = await makeClaudeClient({ baseUrl: settings.baseUrl, key })
  const { clock = systemClock, origins = threadOrigins() } = ports
  return { name: settings.model, run: context => runClaude(context, settings, client, { clock, origins, key }) }
}

async function runClaude(
  context: AgentContext,
  settings: ClaudeSettings,
  client: ClaudeClient,
  ports: SdkPorts,
): Promise<{ readonly answer: unknown; readonly stop: AgentStop }> {
  const { systemPrompt } = settings
  const messages = promptMessages(context.prompt, { systemPrompt, returns: context.returns })
  const toolbox = await openToolbox(context, { tools: nativeTools(settings.tools), mcp: settings.mcp })
  try {
    const { signal, traceparent } = context
    const dialogue = makeClaudeDialogue(messages, settings, client, toolbox, { ...ports, signal, traceparent })
    return await takeTurns(context, dialogue, settings, ports.clock)
  } finally {
    await toolbox.close()
  }
}
