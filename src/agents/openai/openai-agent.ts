import { type Clock, systemClock } from '../../clock.ts'
import { hasTag } from '../../errors.ts'
import type { Agent, AgentContext, AgentStop } from '../agent.ts'
import { readKey } from '../chat/config.ts'
import { type Origins, threadOrigins } from '../chat/origins.ts'
import { toolsByName } from '../chat/tools/index.ts'
import { promptMessages } from '../prompt.ts'
import type { SdkPorts } from '../sdk/ask-sdk.ts'
import { openToolbox } from '../toolbox.ts'
import { takeTurns } from '../turns.ts'
import { type OpenAiSettings, parseOpenAiConfig } from './config.ts'
import { makeOpenAiDialogue, type NativeShell } from './dialogue.ts'
import { runShellCall } from './native-shell.ts'
import { makeOpenAiClient, type OpenAiClient } from './sdk.ts'

export interface OpenAiAgentPorts {
  readonly clock?: Clock
  /** Where the key and the base URL are read from. */
  readonly env?: NodeJS.ProcessEnv
  /** What is known of services' health. Default: what all agents of the thread share. */
  readonly origins?: Origins
}

/**
 * A model by OpenAI's SDK and its Responses API, with the chat agent's tools as functions, or the service's own shell tool, and those of the
 * environment's MCP servers. Its turns have no token ids: the service gives none. Rejects with `bad-agent-config` or `no-key`.
 */
export async function makeOpenAiAgent(
  config: Readonly<Record<string, unknown>>,
  ports: OpenAiAgentPorts = {},
): Promise<Agent> {
  const settings = parseOpenAiConfig(config, ports.env)
  const key = readKey(settings, ports.env)
  const client = await makeOpenAiClient({ baseUrl: settings.baseUrl, key })
  const { clock = systemClock, origins = threadOrigins() } = ports
  return { name: settings.model, run: context => runOpenAi(context, settings, client, { clock, origins, key }) }
}

async function runOpenAi(
  context: AgentContext,
  settings: OpenAiSettings,
  client: OpenAiClient,
  ports: SdkPorts,
): Promise<{ readonly answer: unknown; readonly stop: AgentStop }> {
  const { returns } = context
  const messages = promptMessages(context.prompt, { systemPrompt: settings.systemPrompt, returns })
  const isNative = settings.shell === 'native' && settings.tools.includes('bash')
  const names = isNative ? settings.tools.filter(name => name !== 'bash') : settings.tools
  const toolbox = await openToolbox(context, { tools: toolsByName(names), mcp: settings.mcp })
  try {
    const place = { toolbox, returns, shell: isNative ? await openNativeShell(context) : undefined }
    const { signal, traceparent } = context
    const dialogue = makeOpenAiDialogue(messages, settings, client, place, { ...ports, signal, traceparent })
    return await takeTurns(context, dialogue, settings, ports.clock)
  } finally {
    await toolbox.close()
  }
}

/** Undefined where the environment has no shell. */
async function openNativeShell({ shell, signal }: AgentContext): Promise<NativeShell | undefined> {
  try {
    const opened = await shell()
    return action => runShellCall(action, opened, signal)
  } catch (error) {
    if (hasTag(error, 'no-shell')) return undefined
    throw error
  }
}
