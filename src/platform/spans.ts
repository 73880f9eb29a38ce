import { type Hider, makeHider } from '../redact.ts'
import { spanId } from './ids.ts'
import type { Step } from './steps.ts'

/** One span of HUD's wire format: OpenTelemetry's shape, with a step in its attributes. Every field is there. */
export interface Span {
  readonly name: string
  readonly trace_id: string
  readonly span_id: string
  readonly parent_span_id: null
  readonly kind: 'INTERNAL'
  readonly start_time: string
  readonly end_time: string
  readonly status_code: 'OK' | 'ERROR'
  readonly status_message: string | null
  readonly attributes: {
    readonly 'hud.schema': 'hud.step.v1'
    readonly 'hud.task_run_id': string
    readonly 'hud.payload': Step
  }
  readonly events: readonly []
}

export interface BatchLimits {
  readonly spans: number
  readonly bytes: number
}

/** As HUD's own exporter has them. */
export const BATCH_LIMITS: BatchLimits = { spans: 100, bytes: 4 * 1024 * 1024 }

export function toSpan(step: Step, traceId: string): Span {
  return {
    name: `step.${step.source}`,
    trace_id: traceId,
    span_id: spanId(traceId, step.step_id),
    parent_span_id: null,
    kind: 'INTERNAL',
    start_time: step.started_at,
    end_time: step.ended_at,
    status_code: step.error === undefined ? 'OK' : 'ERROR',
    status_message: step.error ?? null,
    attributes: { 'hud.schema': 'hud.step.v1', 'hud.task_run_id': traceId, 'hud.payload': step },
    events: [],
  }
}

/** Bodies of `telemetry-upload` for one trace, in order: each within both limits, or one span alone. Without secrets. */
export function* toUploads(steps: readonly Step[], traceId: string, limits = BATCH_LIMITS): Generator<string> {
  const hider = makeHider()
  let spans: string[] = []
  let bytes = 0
  for (const step of steps) {
    const span = toSafeJson(toSpan(step, traceId), hider)
    const size = Buffer.byteLength(span)
    if (spans.length > 0 && (spans.length === limits.spans || bytes + size > limits.bytes)) {
      yield toBody(spans)
      spans = []
      bytes = 0
    }
    spans.push(span)
    bytes += size
  }
  if (spans.length > 0) yield toBody(spans)
}

/** JSON of what agents and environments put out: secrets hidden in every text, and a word in the place of what JSON does not know. */
export function toSafeJson(value: unknown, hider: Hider = makeHider()): string {
  const json = JSON.stringify(hider.hideInValue(value), (_key, item: unknown) => {
    if (typeof item === 'bigint') return String(item)
    return ArrayBuffer.isView(item) ? `<${item.byteLength} bytes>` : item
  })
  // Once more, for keys and for what lies deeper than the first looked.
  return hider.hideKnown(json)
}

function toBody(spans: readonly string[]): string {
  return `{"telemetry":[${spans.join(',')}]}`
}
