import { z } from 'zod'
import type { ErrorData } from '../errors.ts'
import { frameNotRead } from './exec-errors.ts'

/** The JSON payloads of `exec/1`, and their one parser each. */
const hello = z.object({ token: z.string(), traceparent: z.string().optional() })
const start = z.object({
  command: z.string(),
  timeoutMs: z.number().positive().finite().optional(),
  maxOutputBytes: z.number().int().nonnegative().optional(),
})
const file = z.object({ path: z.string() })
const exit = z.object({
  exitCode: z.number().int(),
  signal: z.string().optional(),
  droppedStdout: z.number(),
  droppedStderr: z.number(),
})
const failure = z.looseObject({ tag: z.string(), message: z.string() })

export type HelloMessage = z.infer<typeof hello>
export type StartMessage = z.infer<typeof start>
export type ExitMessage = z.infer<typeof exit>

/** Each throws `exec-frame-not-read` for anything else. */
export const parseHello = (payload: Buffer): HelloMessage => parse('hello', hello, payload)
export const parseStart = (payload: Buffer): StartMessage => parse('start', start, payload)
export const parseFile = (payload: Buffer): { path: string } => parse('file', file, payload)
export const parseExit = (payload: Buffer): ExitMessage => parse('exit', exit, payload)
export const parseFailure = (payload: Buffer): ErrorData => parse('failure', failure, payload) as ErrorData

export function parseCredit(payload: Buffer): number {
  if (payload.length !== 4) throw frameNotRead('credit', `${payload.length} bytes instead of 4`)
  return payload.readUInt32BE()
}

function parse<T>(what: string, schema: z.ZodType<T>, payload: Buffer): T {
  let value: unknown
  try {
    value = JSON.parse(payload.toString('utf8'))
  } catch (error) {
    throw frameNotRead(what, error instanceof Error ? error.message : String(error))
  }
  const parsed = schema.safeParse(value)
  if (!parsed.success) throw frameNotRead(what, z.prettifyError(parsed.error))
  return parsed.data
}
