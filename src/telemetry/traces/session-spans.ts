import { randomBytes } from 'node:crypto'
import { type Clock, readBoth } from '../../clock.ts'
import { type SessionTracer, toErrorType } from '../../environment/session-tracer.ts'
import { makeNameHider } from './hide-names.ts'
import { openSpans } from './open-spans.ts'
import { parseTraceparent } from './trace-ids.ts'
import { toTracesUrl } from './traces-url.ts'

/** Whoever started the server waits for its end, and kills it after some seconds: what waits then has less time than elsewhere. */
const SEND_MS = 1_000
const CLOSE_MS = 1_500

/** The spans of one environment server, on their way to a receiver of OTLP over HTTP. Throws `bad-traces-url`. */
export function openSessionTracer(options: {
  readonly url: string
  readonly environment: string
  readonly clock: Clock
  readonly onFailed: (error: unknown) => void
}): SessionTracer {
  const { environment, clock, onFailed } = options
  const hide = makeNameHider(clock)
  const spans = openSpans({
    to: toTracesUrl(options.url),
    serviceName: 'troupe-environment',
    resource: { 'troupe.environment': environment },
    clock,
    sendMs: SEND_MS,
    closeMs: CLOSE_MS,
    onFailed,
  })
  return {
    async draw(span, work, after) {
      const parent = parseTraceparent(span.traceparent)
      if (parent === undefined) return work()
      const { now: begun, wallTime: startMs } = readBoth(clock)
      const add = (more: typeof span.attributes, error?: { readonly type: string; readonly message: string }) =>
        spans.add({
          traceId: parent.traceId,
          spanId: randomBytes(8).toString('hex'),
          parentId: parent.spanId,
          name: span.name,
          kind: 'server',
          startMs,
          endMs: startMs + clock.now() - begun,
          attributes: hideIn({ ...span.attributes, ...more }),
          ...(error === undefined ? {} : { error }),
        })
      try {
        const value = await work()
        add(after?.(value) ?? {})
        return value
      } catch (error) {
        add({}, { type: toErrorType(error), message: error instanceof Error ? error.message : String(error) })
        throw error
      }
    },
    close: () => spans.close(),
  }

  function hideIn(attributes: Readonly<Record<string, string | number>>) {
    return Object.fromEntries(
      Object.entries(attributes).map(([key, value]) => [key, typeof value === 'string' ? hide(value) : value]),
    )
  }
}
