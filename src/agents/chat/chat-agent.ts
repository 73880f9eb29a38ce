import { type Clock, systemClock } from '../../clock.ts'
import type { Agent, AgentContext, AgentStop } from '../agent.ts'
import { promptMessages } from '../prompt.ts'
import { openToolbox, type Toolbox } from '../toolbox.ts'
import { type Dialogue, takeTurns } from '../turns.ts'
import { type ParsedCall, parseCall, toCall } from './calls.ts'
import { type ChatClient, makeChatClient } from './chat-client.ts'
import { type ChatSettings, parseChatConfig, readKey } from './config.ts'
import { type Conversation, makeConversation, type ResponseFormat } from './conversation.ts'
import { type Origins, threadOrigins } from './origins.ts'
import { toFirstMessage } from './prompt.ts'
import { parseReply } from './reply.ts'
import { toTurnTokens } from './tokens.ts'
import { toolsByName } from './tools/index.ts'

export interface ChatAgentPorts {
  readonly clock?: Clock
  /** Where the key is read from. */
  readonly env?: NodeJS.ProcessEnv
  /** Default: those that all agents of the thread share. */
  readonly origins?: Origins
}

/**
 * A model behind an OpenAI-compatible chat-completions endpoint, with tools over the workspace's shell and of the environment's MCP
 * servers. Reads the endpoint's key from the environment of the thread it is made in. Throws `bad-agent-config` or `no-key`.
 */
export function makeChatAgent(config: Readonly<Record<string, unknown>>, ports: ChatAgentPorts = {}): Agent {
  const settings = parseChatConfig(config, ports.env)
  const key = readKey(settings, ports.env)
  const clock = ports.clock ?? systemClock
  const client = makeChatClient(settings, key, { clock, origins: ports.origins ?? threadOrigins() })
  return { name: settings.model, run: context => runChat(context, settings, client, clock) }
}

async function runChat(
  context: AgentContext,
  settings: ChatSettings,
  client: ChatClient,
  clock: Clock,
): Promise<{ readonly answer: unknown; readonly stop: AgentStop }> {
  const returns = settings.answers === 'as-said' ? undefined : context.returns
  const messages = promptMessages(context.prompt, { systemPrompt: settings.systemPrompt, returns }).map(toFirstMessage)
  const toolbox = await openToolbox(context, { tools: toolsByName(settings.tools), mcp: settings.mcp })
  try {
    const offered = [...toolbox.own.values(), ...toolbox.foreign.values()].map(tool => tool.chat)
    const format = settings.answers === 'auto' ? toFormat(returns, offered) : undefined
    const conversation = makeConversation(messages, { ...settings, format }, offered, context.seed)
    const dialogue = makeDialogue(settings, client, conversation, toolbox, context)
    const { signal, record, seed } = context
    const turns = { signal, record, seed, ...(returns === undefined ? {} : { returns }) }
    return await takeTurns(turns, dialogue, settings, clock)
  } finally {
    await toolbox.close()
  }
}

/**
 * Asks the server itself to see to it that the answer fits. Not where tools are offered: some servers then let the model put out nothing else from its first
 * word on, so that it never calls one; and not for what is no object, which some refuse.
 */
function toFormat(returns: AgentContext['returns'], tools: readonly unknown[]): ResponseFormat | undefined {
  if (returns?.type !== 'object' || tools.length > 0) return undefined
  return { type: 'json_schema', json_schema: { name: 'answer', schema: returns } }
}

function makeDialogue(
  settings: ChatSettings,
  client: ChatClient,
  conversation: Conversation,
  toolbox: Toolbox,
  { signal, traceparent }: Pick<AgentContext, 'signal' | 'traceparent'>,
): Dialogue {
  const { url } = settings
  let calls: readonly ParsedCall[] = []
  return {
    url,
    async ask(turn, random) {
      const reply = parseReply(await client.post(conversation.body(turn), signal, random, traceparent), url)
      const how = { required: settings.requireTokens, url, turn }
      const tokens = settings.wantsTokens ? toTurnTokens(reply, how) : undefined
      calls = reply.calls.map(parseCall)
      conversation.answered(
        reply,
        calls.map(call => call.replayed),
      )
      return {
        answer: reply.content ?? '',
        calls: calls.map(call => toCall(call, toolbox)),
        isCut: reply.isCut,
        tokens,
        version: reply.version,
      }
    },
    answered(results) {
      for (const [index, { text }] of results.entries()) {
        const call = calls[index]
        if (call !== undefined) conversation.toolAnswered(call.id, text)
      }
    },
  }
}
