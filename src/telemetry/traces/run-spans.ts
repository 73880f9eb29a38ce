import type { SpanContext } from '@opentelemetry/api'
import type { Lap } from '../../rollout/phases.ts'
import type { RunHeader } from '../../rollout/run.ts'
import type { Spans } from './open-spans.ts'
import type { AttemptTrace, RunTrace, TurnTrace } from './run-trace.ts'
import { attemptSpan, isDrawn, runTrace, secondCleanup, type TraceIds, turnSpan } from './trace-ids.ts'

/** Where spans go, and what hides secrets in the names that stand in them. */
export interface Pen {
  readonly spans: Pick<Spans, 'add'>
  readonly hide: (name: string) => string
}

const LONGEST_NAME = 64

/**
 * The trace of a run that ended: its own span, one for each phase of the attempt that counts, and in the agent's phase one for each turn. Where there were
 * several attempts each of them is a span with its phases. Of a run whose thread was lost there is the first alone.
 */
export function drawRun(
  pen: Pen,
  header: RunHeader,
  trace: RunTrace | undefined,
  { share, links }: { readonly share: number; readonly links: readonly SpanContext[] },
): void {
  const { spans, hide } = pen
  const ids = runTrace(header.jobId, header.runId)
  if (trace === undefined && !isDrawn(ids, share)) return
  const attempts = trace?.attempts ?? []
  const [first] = attempts
  const last = attempts.at(-1)
  const { error, outcome, stopReason } = header
  spans.add({
    traceId: ids.traceId,
    spanId: ids.spanId(0),
    name: `rollout ${hide(header.task.id)}`,
    startMs: first?.startedAt ?? header.startedAt,
    endMs: last === undefined ? header.endedAt : last.startedAt + last.tookMs,
    attributes: toRunAttributes(header, trace, hide),
    links,
    error:
      outcome === 'graded' ? undefined : { type: error?.tag ?? stopReason, message: trace?.said ?? error?.message },
  })
  if (last === undefined) return
  if (attempts.length === 1) drawPhases(pen, header, last, ids, ids.spanId(0))
  else for (const attempt of attempts) drawAttempt(pen, header, attempt, ids)
}

function drawAttempt(pen: Pen, header: RunHeader, trace: AttemptTrace, ids: TraceIds): void {
  const { attempt, startedAt, tookMs, outcome, error } = trace
  const spanId = ids.spanId(attemptSpan(attempt))
  pen.spans.add({
    traceId: ids.traceId,
    spanId,
    parentId: ids.spanId(0),
    name: `attempt ${attempt}`,
    startMs: startedAt,
    endMs: startedAt + tookMs,
    attributes: { 'troupe.attempt': attempt, 'troupe.outcome': outcome },
    error: outcome === 'graded' ? undefined : { type: error ?? outcome },
  })
  drawPhases(pen, header, trace, ids, spanId)
}

function drawPhases(pen: Pen, header: RunHeader, trace: AttemptTrace, ids: TraceIds, parentId: string): void {
  const { attempt, startedAt, laps, failedPhase, error } = trace
  const failed = failedPhase === undefined ? undefined : laps.findLast(({ phase }) => phase === failedPhase)
  let hasLeft = false
  for (const lap of laps) {
    const { phase, atMs, tookMs } = lap
    const spanId = ids.spanId(phase === 'cleanup' && hasLeft ? secondCleanup(attempt) : attemptSpan(attempt, phase))
    if (phase === 'cleanup') hasLeft = true
    const agent = phase === 'agent' ? pen.hide(header.agent).slice(0, LONGEST_NAME) : undefined
    pen.spans.add({
      traceId: ids.traceId,
      spanId,
      parentId,
      name: agent === undefined ? phase : `invoke_agent ${agent}`,
      startMs: startedAt + atMs,
      endMs: startedAt + atMs + tookMs,
      attributes: agent === undefined ? { 'troupe.phase': phase } : toAgentAttributes(agent, trace),
      error: lap === failed ? { type: error ?? 'unknown' } : undefined,
    })
    if (agent !== undefined) drawTurns(pen, agent, trace, lap, ids, spanId)
  }
}

/** A model that was asked, or a tool that was called. Agents say the times of their turns by a clock of their own: none reaches beyond its phase. */
function drawTurns(pen: Pen, agent: string, trace: AttemptTrace, lap: Lap, ids: TraceIds, parentId: string): void {
  const { traceId } = ids
  const phaseStartMs = trace.startedAt + lap.atMs
  for (const [index, turn] of trace.turns.entries()) {
    const begin = Math.min(Math.max(0, turn.atMs), lap.tookMs)
    const spanId = ids.spanId(turnSpan(trace.attempt, index))
    const startMs = phaseStartMs + begin
    const endMs = phaseStartMs + Math.min(begin + Math.max(0, turn.tookMs), lap.tookMs)
    if (turn.tool === undefined) {
      const attributes = toModelAttributes(agent, turn, pen.hide)
      pen.spans.add({ traceId, spanId, parentId, name: `chat ${agent}`, kind: 'client', startMs, endMs, attributes })
    } else {
      const tool = pen.hide(turn.tool).slice(0, LONGEST_NAME)
      const attributes = { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': tool }
      const error = turn.isError === true ? TOOL_FAILED : undefined
      pen.spans.add({ traceId, spanId, parentId, name: `execute_tool ${tool}`, startMs, endMs, attributes, error })
    }
  }
}

const TOOL_FAILED = { type: 'tool-failed' }

// What is undefined is no attribute. Spread objects would say the same, and take several times as long.

function toModelAttributes(agent: string, { inputTokens, outputTokens, version }: TurnTrace, hide: Pen['hide']) {
  return {
    'gen_ai.operation.name': 'chat',
    'gen_ai.request.model': agent,
    'gen_ai.response.model': version === undefined ? undefined : hide(version),
    'gen_ai.usage.input_tokens': inputTokens,
    'gen_ai.usage.output_tokens': outputTokens,
  }
}

function toAgentAttributes(agent: string, { turnCount }: AttemptTrace) {
  return {
    'troupe.phase': 'agent',
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.agent.name': agent,
    'troupe.turns': turnCount,
  }
}

function toRunAttributes(header: RunHeader, trace: RunTrace | undefined, hide: Pen['hide']) {
  const { runId, groupId, step, member, attempt, task, agent, outcome, reward, stopReason, failedPhase } = header
  return {
    'troupe.run.id': runId,
    'troupe.group.id': groupId,
    'troupe.step': step,
    'troupe.member': member,
    'troupe.attempt': attempt,
    'troupe.environment': hide(task.env),
    'troupe.template': hide(task.id),
    'troupe.task': hide(task.slug),
    'gen_ai.agent.name': hide(agent),
    'troupe.outcome': outcome,
    'troupe.stop_reason': stopReason,
    'troupe.trajectory.bytes': header.bytes,
    'troupe.reward': reward ?? undefined,
    'troupe.failed_phase': failedPhase,
    'troupe.lease': header.lease ?? undefined,
    'troupe.worker': trace?.worker,
  }
}
