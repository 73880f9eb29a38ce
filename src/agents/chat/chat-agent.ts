import { type Clock, systemClock } from '../../clock.ts'
import { hasTag } from '../../errors.ts'
import { makeRandom } from '../../random.ts'
import type { Agent, AgentContext, AgentStop } from '../agent.ts'
import { type ParsedCall, parseCall, runCall } from './calls.ts'
import { type ChatClient, makeChatClient } from './chat-client.ts'
import { type ChatSettings, parseChatConfig, readKey } from './config.ts'
import { makeConversation } from './conversation.ts'
import { chatCutOff } from './errors.ts'
import { type Origins, threadOrigins } from './origins.ts'
import { toMessages } from './prompt.ts'
import { parseReply } from './reply.ts'
import { toTurnTokens } from './tokens.ts'
import { type ToolContext, type ToolResult, toolsByName } from './tools/index.ts'

export interface ChatAgentPorts {
  readonly clock?: Clock
  /** Where the key is read from. */
  readonly env?: NodeJS.ProcessEnv
  /** Default: those that all agents of the thread share. */
  readonly origins?: Origins
}

/**
 * A model behind an OpenAI-compatible chat-completions endpoint, with tools over the workspace's shell. Reads the endpoint's key from
 * the environment of the thread it is made in. Throws `bad-agent-config` or `no-key`.
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
): Promise<{ readonly answer: string; readonly stop: AgentStop }> {
  const { signal, record } = context
  const startedAt = clock.now()
  const since = (from: number) => ({ atMs: from - startedAt, tookMs: clock.now() - from })
  const random = makeRandom(context.seed)
  const messages = toMessages(context.prompt, settings.systemPrompt)
  const place = await openPlace(context, settings)
  const tools = toolsByName(place === undefined ? [] : settings.tools)
  const offered = [...tools.values()].map(tool => tool.chat)
  const conversation = makeConversation(messages, settings, offered, context.seed)
  let malformedInARow = 0

  function recordCall({ name, given }: ParsedCall, { type, text }: ToolResult, from: number): void {
    const toolCalls = [{ name, arguments: given ?? {}, result: text, isError: type !== 'done' }]
    record({ role: 'tool', text: '', toolCalls, ...since(from) })
  }

  for (let step = 1; ; step += 1) {
    const from = clock.now()
    const completion = client.post(conversation.body(step), signal, random)
    const reply = parseReply(
      step === 1 ? await firstWord(completion, settings.url, signal) : await completion,
      settings.url,
    )
    const answer = reply.content ?? ''
    const how = { required: settings.requireTokens, url: settings.url, turn: step }
    const tokens = settings.wantsTokens ? toTurnTokens(reply, how) : undefined
    record({
      role: 'assistant',
      text: answer,
      ...since(from),
      ...(tokens === undefined ? {} : { tokens }),
      ...(reply.version === undefined ? {} : { version: reply.version }),
    })
    const calls = reply.calls.map(parseCall)
    if (reply.isCut) {
      for (const call of calls) recordCall(call, CUT, clock.now())
      return { answer, stop: 'length' }
    }
    if (calls.length === 0) return { answer, stop: 'done' }

    conversation.answered(
      reply,
      calls.map(call => call.replayed),
    )
    let isMalformed = false
    for (const call of calls) {
      signal.throwIfAborted()
      const callFrom = clock.now()
      const result = await runCall(call, tools, place)
      recordCall(call, result, callFrom)
      conversation.toolAnswered(call.id, result.text)
      isMalformed ||= result.type === 'malformed'
    }
    malformedInARow = isMalformed ? malformedInARow + 1 : 0
    const isLast = step === settings.maxSteps
    if (isMalformed && (isLast || malformedInARow === settings.maxMalformed))
      return { answer, stop: 'malformed-tool-call' }
    if (isLast) return { answer, stop: 'max-steps' }
  }
}

/** A model that has not said one word when its rollout is cut was not there for it: such a run says nothing of the model. */
async function firstWord(completion: Promise<unknown>, url: string, signal: AbortSignal): Promise<unknown> {
  try {
    return await completion
  } catch (error) {
    throw signal.aborted && error === signal.reason ? chatCutOff(url, 'it never answered', error) : error
  }
}

const CUT: ToolResult = { type: 'failed', text: 'not run: the message was cut off at its token limit' }

/** Undefined where there is nothing that tools could work on, or no tool is wanted. */
async function openPlace({ shell, signal }: AgentContext, { tools }: ChatSettings): Promise<ToolContext | undefined> {
  if (tools.length === 0) return undefined
  try {
    return { shell: await shell(), signal }
  } catch (error) {
    if (hasTag(error, 'no-shell')) return undefined
    throw error
  }
}
