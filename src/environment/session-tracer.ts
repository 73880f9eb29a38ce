import { TroupeError } from '../errors.ts'
import { findTraceparent } from '../wire/extension.ts'
import { RpcRefusal, type RpcRequest } from '../wire/json-rpc.ts'

/** A span that is about to begin. */
export interface SessionSpan {
  /** What it is part of, as its asker said: a W3C `traceparent`. Without one nothing is drawn. */
  readonly traceparent: unknown
  readonly name: string
  readonly attributes: Readonly<Record<string, string | number>>
}

/** Draws what a server does for its sessions, as spans of whoever asked for it. */
export interface SessionTracer {
  /** Does `work`, and draws how long it took and how it ended. `after`: what is known by then. */
  draw<Value>(
    span: SessionSpan,
    work: () => Promise<Value>,
    after?: (value: Value) => SessionSpan['attributes'],
  ): Promise<Value>
  /** Sends what waits, for a short time at most. Never rejects. */
  close(): Promise<void>
}

/** What a request asks for, drawn where anybody draws. */
export function drawRequest<Value>(
  tracer: SessionTracer | undefined,
  { method, params }: Pick<RpcRequest, 'method' | 'params'>,
  work: () => Promise<Value>,
): Promise<Value> {
  if (tracer === undefined) return work()
  const template = typeof params.id === 'string' ? { 'troupe.template': params.id } : {}
  const attributes = { 'rpc.system': 'jsonrpc', 'rpc.method': method, ...template }
  return tracer.draw({ traceparent: findTraceparent(params), name: method, attributes }, work)
}

/** How a span names what went wrong: few words, known before. */
export function toErrorType(error: unknown): string {
  if (error instanceof TroupeError) return error.tag
  return error instanceof RpcRefusal ? `rpc${error.code}` : 'threw'
}
