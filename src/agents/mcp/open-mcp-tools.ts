import type { ChatTool } from '../../models/chat.ts'
import type { Binding } from '../../wire/binding.ts'
import type { AgentContext } from '../agent.ts'
import { cutMiddle } from '../chat/tools/bound.ts'
import type { ToolResult } from '../chat/tools/index.ts'
import type { BoundTool } from '../toolbox.ts'
import { mcpLost, mcpNotUsable } from './errors.ts'
import { openForward } from './forward.ts'
import { type ListedTool, type McpSession, openMcpSession, readRpcCode } from './sdk.ts'

/** The tools of an environment's MCP servers, ready to be called. */
export interface McpTools {
  readonly tools: ReadonlyMap<string, BoundTool>
  close(): Promise<void>
}

interface Place {
  readonly session: NonNullable<AgentContext['session']>
  readonly signal: AbortSignal
}

/** Opens every `mcp` capability. `taken` are names that are in use. Rejects with `mcp-lost` or `binding-not-usable`. */
export async function openMcpTools(place: Place, taken: ReadonlySet<string>): Promise<McpTools> {
  const tools = new Map<string, BoundTool>()
  const closers: (() => Promise<void>)[] = []
  const close = async () => {
    for (const each of closers.splice(0).reverse()) await each()
  }
  try {
    for (const binding of place.session.bindings.filter(({ protocol }) => protocol.startsWith('mcp/'))) {
      const server = await openServer(binding, place, closers)
      for (const tool of await askToOpen(binding.name, place.signal, () => server.listTools(place.signal))) {
        const name = toFreeName(tool.name, binding.name, name => taken.has(name) || tools.has(name))
        tools.set(name, bind(name, tool, binding.name, server, place.signal))
      }
    }
    return { tools, close }
  } catch (error) {
    await close()
    throw error
  }
}

async function openServer(
  { name, url: text, params }: Binding,
  { session, signal }: Place,
  closers: (() => Promise<void>)[],
): Promise<McpSession> {
  if (!URL.canParse(text) || !/^https?:/.test(text)) throw mcpNotUsable(name, `its url is ${text}, and no http URL`)
  const forward = await openForward(() => session.openTunnel(name))
  closers.push(() => forward.close())
  // Where the environment says it listens is a place of the sandbox; from here it is at the tunnel's end.
  const url = new URL(text)
  url.protocol = 'http:'
  url.host = `127.0.0.1:${forward.port}`
  const { auth_token: token, transport } = params
  const headers: Record<string, string> = typeof token === 'string' ? { authorization: `Bearer ${token}` } : {}
  const server = await askToOpen(name, signal, () =>
    openMcpSession(url, transport === 'sse' ? 'sse' : 'streamable-http', headers, signal),
  )
  closers.push(() => server.close().catch(alreadyGone))
  return server
}

function bind(name: string, tool: ListedTool, server: string, session: McpSession, signal: AbortSignal): BoundTool {
  return {
    chat: { type: 'function', function: { name, description: tool.description, parameters: toParameters(tool) } },
    async run(given): Promise<ToolResult> {
      const arguments_ = typeof given === 'object' && given !== null ? { ...given } : {}
      try {
        const { text, isError } = await ask(server, signal, () => session.callTool(tool.name, arguments_, signal))
        return { type: isError ? 'failed' : 'done', text: cutMiddle(text) }
      } catch (error) {
        if (!(error instanceof Refused)) throw error
        return { type: error.code === INVALID_PARAMS ? 'malformed' : 'failed', text: `error: ${error.message}` }
      }
    },
  }
}

const INVALID_PARAMS = -32_602
const CONNECTION_CLOSED = -32_000

/** The server answered, and said no. */
class Refused extends Error {
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

/** A server that refuses to begin with is of no use to anybody. */
async function askToOpen<Value>(server: string, signal: AbortSignal, act: () => Promise<Value>): Promise<Value> {
  try {
    return await ask(server, signal, act)
  } catch (error) {
    throw error instanceof Refused ? mcpNotUsable(server, error.message) : error
  }
}

/** Tells an abort, a refusal by the server and a server that is not there apart. */
async function ask<Value>(server: string, signal: AbortSignal, act: () => Promise<Value>): Promise<Value> {
  try {
    return await act()
  } catch (error) {
    if (signal.aborted) throw signal.reason
    const code = readRpcCode(error)
    const words = error instanceof Error ? error.message : String(error)
    if (code === undefined || code === CONNECTION_CLOSED) throw mcpLost(server, words, error)
    throw new Refused(code, words)
  }
}

function toParameters({ inputSchema }: ListedTool): ChatTool['function']['parameters'] {
  const { properties, required } = inputSchema
  return {
    ...inputSchema,
    type: 'object',
    properties: toSchemas(properties),
    required: Array.isArray(required) ? required.map(String) : [],
  }
}

function toSchemas(properties: unknown): ChatTool['function']['parameters']['properties'] {
  if (typeof properties !== 'object' || properties === null) return {}
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [
      name,
      typeof schema === 'object' && schema !== null ? { ...schema } : {},
    ]),
  )
}

const MAX_NAME = 64

/** Services take letters, digits, _ and -, 64 at most; what is in use is told apart by its server, then by a number. */
function toFreeName(name: string, server: string, isTaken: (name: string) => boolean): string {
  const plain = (text: string) => text.replaceAll(/[^\w-]/g, '_').slice(0, MAX_NAME)
  const candidates = [plain(name), plain(`${server}_${name}`)]
  const free = candidates.find(candidate => !isTaken(candidate))
  if (free !== undefined) return free
  for (let count = 2; ; count += 1) {
    const numbered = `${plain(`${server}_${name}`).slice(0, MAX_NAME - 4)}_${count}`
    if (!isTaken(numbered)) return numbered
  }
}

/** It is being left; that it has gone first changes nothing. */
function alreadyGone(): void {}
