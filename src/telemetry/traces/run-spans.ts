import type { SpanContext } from '@opentelemetry/api'
import type { RunHeader } from '../../rollout/run.ts'
import type { SpanData, Spans } from './open-spans.ts'
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
  spans.add({
    traceId: ids.traceId,
    spanId: ids.spanId(0),
    name: `rollout ${hide(header.task.id)}`,
    startMs: first?.startedAt ?? header.startedAt,
    endMs: last === undefined ? header.endedAt : last.startedAt + last.tookMs,
    attributes: toRunAttributes(header, hide),
    links,
    ...(header.outcome === 'graded'
      ? {}
      : { error: { type: header.error?.tag ?? header.stopReason, ...toMessage(header) } }),
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
    ...(outcome === 'graded' ? {} : { error: { type: error ?? outcome } }),
  })
  drawPhases(pen, header, trace, ids, spanId)
}

function drawPhases(pen: Pen, header: RunHeader, trace: AttemptTrace, ids: TraceIds, parentId: string): void {
  const { spans, hide } = pen
  const agent = hide(header.agent).slice(0, LONGEST_NAME)
  const { attempt, startedAt, laps, failedPhase, error } = trace
  const failed = laps.findLast(({ phase }) => phase === failedPhase)
  const seen = new Set<string>()
  for (const lap of laps) {
    const isAgain = seen.has(lap.phase)
    seen.add(lap.phase)
    const isAgent = lap.phase === 'agent'
    const spanId = ids.spanId(isAgain ? secondCleanup(attempt) : attemptSpan(attempt, lap.phase))
    spans.add({
      traceId: ids.traceId,
      spanId,
      parentId,
      name: isAgent ? `invoke_agent ${agent}` : lap.phase,
      startMs: startedAt + lap.atMs,
      endMs: startedAt + lap.atMs + lap.tookMs,
      attributes: { 'troupe.phase': lap.phase, ...(isAgent ? toAgentAttributes(agent, trace) : {}) },
      ...(lap === failed ? { error: { type: error ?? 'unknown' } } : {}),
    })
    if (isAgent)
      for (const [index, turn] of trace.turns.entries()) {
        const place = { traceId: ids.traceId, spanId: ids.spanId(turnSpan(attempt, index)), parentId: spanId }
        spans.add({ ...place, ...toTurn(pen, agent, startedAt + lap.atMs, lap.tookMs, turn) })
      }
  }
}

/** A model that was asked, or a tool that was called. Agents say the times of their turns by a clock of their own: none reaches beyond its phase. */
function toTurn(
  { hide }: Pen,
  agent: string,
  phaseStartMs: number,
  phaseMs: number,
  { atMs, tookMs, tool, isError, inputTokens, outputTokens, version }: TurnTrace,
): Omit<SpanData, 'traceId' | 'spanId' | 'parentId'> {
  const begin = Math.min(Math.max(0, atMs), phaseMs)
  const end = Math.min(begin + Math.max(0, tookMs), phaseMs)
  const times = { startMs: phaseStartMs + begin, endMs: phaseStartMs + end }
  if (tool !== undefined) {
    const name = hide(tool).slice(0, LONGEST_NAME)
    return {
      ...times,
      name: `execute_tool ${name}`,
      attributes: { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': name },
      ...(isError === true ? { error: { type: 'tool-failed' } } : {}),
    }
  }
  return {
    ...times,
    name: `chat ${agent}`,
    kind: 'client',
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.request.model': agent,
      ...(version === undefined ? {} : { 'gen_ai.response.model': hide(version) }),
      ...(inputTokens === undefined ? {} : { 'gen_ai.usage.input_tokens': inputTokens }),
      ...(outputTokens === undefined ? {} : { 'gen_ai.usage.output_tokens': outputTokens }),
    },
  }
}

function toAgentAttributes(agent: string, { turnCount }: AttemptTrace) {
  return { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': agent, 'troupe.turns': turnCount }
}

function toRunAttributes(header: RunHeader, hide: Pen['hide']) {
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
    ...(reward === null ? {} : { 'troupe.reward': reward }),
    ...(failedPhase === undefined ? {} : { 'troupe.failed_phase': failedPhase }),
    ...(header.lease === null ? {} : { 'troupe.lease': header.lease }),
  }
}

function toMessage({ error }: RunHeader): { readonly message?: string } {
  return error === undefined ? {} : { message: error.message }
}
