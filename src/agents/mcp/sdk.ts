/** The one file that knows MCP's SDK. */
import type { RequestOptions } from '@modelcontextprotocol/sdk/shared/protocol.js'
import { readVersion } from '../../version.ts'

/** A tool as its server lists it. */
export interface ListedTool {
  readonly name: string
  readonly description: string
  readonly inputSchema: Readonly<Record<string, unknown>>
}

/** What a call gave. Parts that are no text are named in its place. */
export interface CalledTool {
  readonly text: string
  readonly isError: boolean
}

/** An initialised session with one MCP server. */
export interface McpSession {
  listTools(signal: AbortSignal): Promise<readonly ListedTool[]>
  callTool(name: string, given: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<CalledTool>
  close(): Promise<void>
}

const ANSWER_MS = 20_000
const CALL_MS = 120_000
const MAX_PAGES = 64

/** Connects and shakes hands. Rejects with what the SDK says. */
export async function openMcpSession(
  url: URL,
  transport: 'streamable-http' | 'sse',
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<McpSession> {
  const { Client } = await import('@modelcontextprotocol/sdk/client/index.js')
  const client = new Client({ name: 'troupe', version: readVersion() })
  const init = { requestInit: { headers: { ...headers } } }
  if (transport === 'sse') {
    const { SSEClientTransport } = await import('@modelcontextprotocol/sdk/client/sse.js')
    await within(ANSWER_MS, signal, limits => client.connect(new SSEClientTransport(url, init), limits))
  } else {
    const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js')
    await within(ANSWER_MS, signal, limits => client.connect(new StreamableHTTPClientTransport(url, init), limits))
  }
  return {
    async listTools(cut) {
      const tools: ListedTool[] = []
      let cursor: string | undefined
      for (let page = 0; page < MAX_PAGES; page += 1) {
        const from = cursor === undefined ? {} : { cursor }
        const listed = await within(ANSWER_MS, cut, limits => client.listTools(from, limits))
        for (const { name, description = '', inputSchema } of listed.tools)
          tools.push({ name, description, inputSchema: { ...inputSchema } })
        cursor = listed.nextCursor
        if (cursor === undefined) break
      }
      return tools
    },
    async callTool(name, given, cut) {
      const call = { name, arguments: { ...given } }
      const result = await within(CALL_MS, cut, limits => client.callTool(call, undefined, limits))
      const parts: readonly unknown[] = Array.isArray(result.content) ? result.content : []
      const texts = parts.map(toText)
      const structured = result.structuredContent === undefined ? [] : [JSON.stringify(result.structuredContent)]
      return { text: (texts.length > 0 ? texts : structured).join('\n'), isError: result.isError === true }
    },
    close: () => client.close(),
  }
}

/** The SDK listens to a call's signal for good, and a rollout's signal outlives its calls: each has one of its own. */
async function within<Value>(
  timeout: number,
  outer: AbortSignal,
  act: (limits: RequestOptions) => Promise<Value>,
): Promise<Value> {
  const controller = new AbortController()
  const cut = () => controller.abort(outer.reason)
  if (outer.aborted) cut()
  outer.addEventListener('abort', cut, { once: true })
  try {
    return await act({ timeout, signal: controller.signal })
  } finally {
    outer.removeEventListener('abort', cut)
  }
}

function toText(part: unknown): string {
  if (typeof part !== 'object' || part === null) return ''
  if ('text' in part && typeof part.text === 'string') return part.text
  if ('resource' in part) return toText(part.resource)
  const type = 'type' in part ? String(part.type) : 'something'
  return `[${type}${'mimeType' in part ? ` ${String(part.mimeType)}` : ''}]`
}

/** What the server itself refused, by its JSON-RPC code; undefined for what happened on the way to it. */
export function readRpcCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || error.name !== 'McpError' || !('code' in error)) return undefined
  return typeof error.code === 'number' ? error.code : undefined
}
