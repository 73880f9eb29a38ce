import { createServer, type IncomingMessage } from 'node:http'

/** A span as it was received, its times in milliseconds since 1970. */
export interface ReceivedSpan {
  readonly service: string
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string | undefined
  readonly name: string
  readonly kind: number
  readonly startMs: number
  readonly endMs: number
  readonly attributes: Readonly<Record<string, unknown>>
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[]
  /** 2: an error. */
  readonly status: { readonly code?: number; readonly message?: string }
}

/** Takes OTLP over HTTP in JSON, on a port of loopback that the system chooses. */
export interface TracesReceiver {
  readonly url: string
  readonly spans: readonly ReceivedSpan[]
  /** Whole bodies, as they came. */
  readonly bodies: readonly string[]
  /** Of each body the header `x-key`. */
  readonly keys: readonly (string | undefined)[]
  /** Resolves when no connection is open. */
  left(): Promise<void>
  /** Of one trace each, in the order in which they came. */
  traces(): ReadonlyMap<string, readonly ReceivedSpan[]>
  close(): Promise<void>
}

/** `answer`: the status of each reply; `silence`: requests are read and never answered. */
export async function startTracesReceiver(answer: () => number | 'silence' = () => 200): Promise<TracesReceiver> {
  const spans: ReceivedSpan[] = []
  const bodies: string[] = []
  const keys: (string | undefined)[] = []
  let connections = 0
  const server = createServer(async (request, response) => {
    const body = await read(request)
    const status = answer()
    if (status === 'silence') return
    if (status === 200) {
      bodies.push(body)
      keys.push(request.headers['x-key']?.toString())
      spans.push(...parseSpans(body))
    }
    response.writeHead(status, { 'content-type': 'application/json' }).end('{}')
  })
  server.on('connection', socket => {
    connections += 1
    socket.once('close', () => {
      connections -= 1
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const bound = server.address()
  const port = typeof bound === 'object' && bound !== null ? bound.port : 0
  return {
    url: `http://127.0.0.1:${port}`,
    spans,
    bodies,
    keys,
    async left() {
      while (connections > 0) await new Promise(resolve => setImmediate(resolve))
    },
    traces() {
      const traces = new Map<string, ReceivedSpan[]>()
      for (const span of spans) traces.set(span.traceId, [...(traces.get(span.traceId) ?? []), span])
      return traces
    },
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** Microseconds are what is sent. */
const ROUNDED_MS = 0.01
/** A server’s answer is on its way before its span ends, and on a machine that is busy something else runs in between. */
const OTHER_PROCESS_MS = 200

/** What is wrong with a trace: more than one beginning, a span whose parent is not there, or that reaches beyond it. */
export function faultsOf(trace: readonly ReceivedSpan[]): string[] {
  const byId = new Map(trace.map(span => [span.spanId, span]))
  const roots = trace.filter(({ parentSpanId }) => parentSpanId === undefined)
  const faults = roots.length === 1 ? [] : [`${roots.length} spans begin it: ${roots.map(({ name }) => name)}`]
  if (byId.size !== trace.length) faults.push('two spans have one id')
  for (const { name, service, parentSpanId, startMs, endMs } of trace) {
    if (parentSpanId === undefined) continue
    const parent = byId.get(parentSpanId)
    const toleranceMs = parent?.service === service ? ROUNDED_MS : OTHER_PROCESS_MS
    if (parent === undefined) faults.push(`${name} has a parent that is not there`)
    else if (startMs < parent.startMs - toleranceMs || endMs > parent.endMs + toleranceMs)
      faults.push(`${name} reaches beyond ${parent.name} (${startMs - parent.startMs}, ${parent.endMs - endMs})`)
  }
  return faults
}

async function read(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) text += chunk
  return text
}

interface Pair {
  readonly key: string
  readonly value: Readonly<Record<string, unknown>>
}

/** What the exporter sends, of which the tests look at this. */
interface Sent {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Pair[] }
    readonly scopeSpans: readonly {
      readonly spans: readonly (Omit<ReceivedSpan, 'attributes' | 'startMs' | 'endMs' | 'service'> & {
        readonly attributes: readonly Pair[]
        readonly startTimeUnixNano: string
        readonly endTimeUnixNano: string
      })[]
    }[]
  }[]
}

function parseSpans(body: string): ReceivedSpan[] {
  const sent: Sent = JSON.parse(body)
  return sent.resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = String(toRecord(resource.attributes)['service.name'])
    return scopeSpans.flatMap(({ spans }) =>
      spans.map(({ startTimeUnixNano, endTimeUnixNano, attributes, parentSpanId, ...span }) => ({
        ...span,
        parentSpanId: parentSpanId === '' ? undefined : parentSpanId,
        service,
        attributes: toRecord(attributes),
        startMs: toMs(startTimeUnixNano),
        endMs: toMs(endTimeUnixNano),
      })),
    )
  })
}

function toRecord(pairs: readonly Pair[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(pairs.map(({ key, value }) => [key, Object.values(value)[0]]))
}

/** As a number nanoseconds since 1970 would lose their last digits. */
const toMs = (nanoseconds: string): number => Number(BigInt(nanoseconds) / 1_000n) / 1_000
