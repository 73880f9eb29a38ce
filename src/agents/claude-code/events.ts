import { z } from 'zod'
import type { ToolCall, Turn } from '../../rollout/trajectory.ts'
import { badOutput } from './errors.ts'

/** How the program says that its work went. */
export interface ClaudeCodeResult {
  readonly subtype: string
  readonly isError: boolean
  readonly text: string
}

/** What its whole output comes to. */
export interface ClaudeCodeOutput {
  readonly turns: readonly Turn[]
  /** Undefined: it ended before it said. */
  readonly result: ClaudeCodeResult | undefined
}

const text = z.object({ type: z.literal('text'), text: z.string() })
const use = z.object({
  type: z.literal('tool_use'),
  id: z.string(),
  name: z.string(),
  input: z.record(z.string(), z.unknown()).catch({}),
})
const outcome = z.object({
  type: z.literal('tool_result'),
  tool_use_id: z.string(),
  content: z.union([z.string(), z.array(z.looseObject({ type: z.string(), text: z.string().optional() }))]).nullish(),
  is_error: z.boolean().nullish(),
})
const other = z.looseObject({ type: z.string() })

// What is not read here passes: every release adds to it.
const eventSchema = z.union([
  z.object({
    type: z.literal('assistant'),
    message: z.object({ model: z.string().optional(), content: z.array(z.union([text, use, other])) }),
  }),
  z.object({
    type: z.literal('user'),
    message: z.object({ content: z.union([z.string(), z.array(z.union([outcome, other]))]) }),
  }),
  z.object({
    type: z.literal('result'),
    subtype: z.string(),
    is_error: z.boolean().default(false),
    result: z.string().nullish(),
  }),
  z.object({ type: z.enum(['system', 'stream_event', 'rate_limit_event']) }),
  other.transform(() => undefined),
])

/** Reads the stamped output (see `toCommandLine`) into turns; their times are the sandbox's own. Throws `agent-program-failed`. */
export function readOutput(output: string, command: string): ClaudeCodeOutput {
  const turns: Turn[] = []
  const open = new Map<string, { readonly call: Omit<ToolCall, 'result' | 'isError'>; readonly atMs: number }>()
  let result: ClaudeCodeResult | undefined
  let begunMs: number | undefined
  let before = 0
  for (const line of output.split('\n')) {
    const [, stamp, json = ''] = /^(\d+[.,]\d+) ?(.*)$/.exec(line) ?? []
    if (stamp === undefined) continue
    const now = Number(stamp.replace(',', '.')) * 1_000
    begunMs ??= now
    const atMs = Math.max(before, Math.round(now - begunMs))
    if (json.trim() === '') continue
    const event = parseEvent(json, command)
    if (event?.type === 'result') result = { subtype: event.subtype, isError: event.is_error, text: event.result ?? '' }
    else if (event?.type === 'assistant') {
      const { content, model } = event.message
      const words = content.flatMap(block => ('text' in block && block.type === 'text' ? [String(block.text)] : []))
      for (const block of content)
        if (block.type === 'tool_use' && 'id' in block && 'input' in block)
          open.set(String(block.id), { call: { name: String(block.name), arguments: toRecord(block.input) }, atMs })
      turns.push({
        role: 'assistant',
        text: words.join(''),
        atMs: before,
        tookMs: atMs - before,
        ...(model === undefined ? {} : { version: model }),
      })
    } else if (event?.type === 'user' && typeof event.message.content !== 'string')
      for (const block of event.message.content) {
        const parsed = outcome.safeParse(block)
        const begun = parsed.success ? open.get(parsed.data.tool_use_id) : undefined
        if (!parsed.success || begun === undefined) continue
        open.delete(parsed.data.tool_use_id)
        const call = { ...begun.call, result: toText(parsed.data.content), isError: parsed.data.is_error === true }
        turns.push({ role: 'tool', text: '', toolCalls: [call], atMs: begun.atMs, tookMs: atMs - begun.atMs })
      }
    before = atMs
  }
  return { turns, result }
}

function parseEvent(json: string, command: string) {
  try {
    return eventSchema.parse(JSON.parse(json))
  } catch {
    throw badOutput(command, json)
  }
}

function toRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {}
}

function toText(content: z.output<typeof outcome>['content']): string {
  if (content === null || content === undefined) return ''
  if (typeof content === 'string') return content
  return content.map(part => part.text ?? `[${part.type}]`).join('\n')
}
