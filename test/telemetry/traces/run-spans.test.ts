import * as assert from 'uvu/assert'
import type { Lap } from '../../../src/rollout/phases.ts'
import type { Phase, RunHeader } from '../../../src/rollout/run.ts'
import type { SpanData } from '../../../src/telemetry/traces/open-spans.ts'
import { drawRun } from '../../../src/telemetry/traces/run-spans.ts'
import type { AttemptTrace, RunTrace } from '../../../src/telemetry/traces/run-trace.ts'
import { attemptSpan, runTrace } from '../../../src/telemetry/traces/trace-ids.ts'
import { makeHeader } from '../../journal/fixtures.ts'
import { suite } from '../../support/suite.ts'

const test = suite('the spans of a run')

function draw(header: RunHeader, trace: RunTrace | undefined, share = 1): readonly SpanData[] {
  const drawn: SpanData[] = []
  const pen = { spans: { add: (span: SpanData) => void drawn.push(span) }, hide: (name: string) => `<${name}>` }
  drawRun(pen, header, trace, { share, links: [] })
  return drawn
}

const START = 1_700_000_000_000
function lapsOf(...phases: readonly (readonly [Phase, number])[]): readonly Lap[] {
  let atMs = 0
  return phases.map(([phase, tookMs]) => {
    const lap = { phase, atMs, tookMs }
    atMs += tookMs
    return lap
  })
}

function attemptOf(given: Partial<AttemptTrace> = {}): AttemptTrace {
  const laps = lapsOf(
    ['provisioning', 10],
    ['connecting', 5],
    ['starting', 5],
    ['agent', 100],
    ['grading', 20],
    ['cleanup', 3],
  )
  const base = {
    attempt: 1,
    outcome: 'graded',
    startedAt: START,
    tookMs: 143.5,
    laps,
    turns: [],
    turnCount: 0,
  } as const
  return { ...base, ...given }
}

const timesOf = ({ name, startMs, endMs }: SpanData) => [name, startMs - START, endMs - START]

test('a run is a span, and each of its phases one below it, side by side', () => {
  const header = makeHeader()
  const [root, ...phases] = draw(header, { attempts: [attemptOf()] })
  assert.equal(root === undefined ? [] : timesOf(root), ['rollout <repair>', 0, 143.5])
  assert.is(root?.parentId, undefined)
  assert.is(root?.attributes?.['troupe.run.id'], header.runId)
  assert.is(root?.attributes?.['troupe.reward'], 0.5)
  assert.is(root?.attributes?.['troupe.task'], '<repair-3>')
  assert.is(root?.error, undefined)
  assert.equal(phases.map(timesOf), [
    ['provisioning', 0, 10],
    ['connecting', 10, 15],
    ['starting', 15, 20],
    ['invoke_agent <repairer>', 20, 120],
    ['grading', 120, 140],
    ['cleanup', 140, 143],
  ])
  const ids = runTrace(header.jobId, header.runId)
  for (const span of phases) assert.equal([span.traceId, span.parentId], [ids.traceId, root?.spanId])
  assert.is(phases[3]?.spanId, ids.spanId(attemptSpan(1, 'agent')), 'what others were told to be part of')
})

test('turns are below the agent’s phase, and none reaches beyond it', () => {
  const turns = [
    { atMs: 0, tookMs: 40, inputTokens: 100, outputTokens: 7, version: 'v3' },
    { atMs: 40, tookMs: 30, tool: 'bash', isError: true },
    { atMs: 90, tookMs: 500 },
    { atMs: -5, tookMs: -1, tool: 'x'.repeat(200) },
  ] as const
  const spans = draw(makeHeader({ agent: 'org/tiny' }), { attempts: [attemptOf({ turns, turnCount: 9 })] })
  const agent = spans.find(({ name }) => name.startsWith('invoke_agent'))
  assert.is(agent?.attributes?.['troupe.turns'], 9)
  const below = spans.filter(({ parentId }) => parentId === agent?.spanId)
  assert.equal(below.map(timesOf), [
    ['chat <org/tiny>', 20, 60],
    ['execute_tool <bash>', 60, 90],
    ['chat <org/tiny>', 110, 120],
    [`execute_tool <${'x'.repeat(63)}`, 20, 20],
  ])
  assert.equal(below[0]?.attributes, {
    'gen_ai.operation.name': 'chat',
    'gen_ai.request.model': '<org/tiny>',
    'gen_ai.response.model': '<v3>',
    'gen_ai.usage.input_tokens': 100,
    'gen_ai.usage.output_tokens': 7,
  })
  assert.is(below[1]?.error?.type, 'tool-failed')
  assert.is(new Set(spans.map(({ spanId }) => spanId)).size, spans.length)
})

test('a run that failed says how, and so does the phase in which it did', () => {
  const error = { tag: 'phase-deadline', message: 'the phase "agent" did not end' }
  const header = makeHeader({
    outcome: 'agent-error',
    stopReason: 'deadline',
    failedPhase: 'agent',
    error,
    reward: null,
  })
  const failed = attemptOf({ outcome: 'agent-error', failedPhase: 'agent', error: error.tag })
  const spans = draw(header, { attempts: [failed] })
  assert.equal(spans[0]?.error, { type: 'phase-deadline', message: error.message })
  assert.is(spans[0]?.attributes?.['troupe.reward'], undefined)
  assert.equal(
    spans.slice(1).flatMap(span => (span.error === undefined ? [] : [[span.name, span.error.type]])),
    [['invoke_agent <repairer>', 'phase-deadline']],
  )
})

test('attempts before the one that counts are spans between the run and their phases', () => {
  const lost = attemptOf({
    outcome: 'infrastructure-error',
    failedPhase: 'connecting',
    error: 'connect-timeout',
    startedAt: START - 500,
    tookMs: 15,
    laps: lapsOf(['provisioning', 10], ['connecting', 5]),
  })
  const spans = draw(makeHeader({ attempt: 2 }), { attempts: [lost, attemptOf({ attempt: 2 })] })
  const [root] = spans
  assert.equal(root === undefined ? [] : timesOf(root), ['rollout <repair>', -500, 143.5])
  const attempts = spans.filter(({ parentId }) => parentId === root?.spanId)
  assert.equal(attempts.map(timesOf), [
    ['attempt 1', -500, -485],
    ['attempt 2', 0, 143.5],
  ])
  assert.equal(
    attempts.map(({ error }) => error?.type),
    ['connect-timeout', undefined],
  )
  const below = attempts.map(attempt => spans.filter(({ parentId }) => parentId === attempt.spanId).length)
  assert.equal(below, [2, 6])
  assert.is(new Set(spans.map(({ spanId }) => spanId)).size, spans.length)
})

test('a second goodbye, after a verifier, has a span of its own', () => {
  const laps = lapsOf(['grading', 5], ['cleanup', 2], ['verifying', 50], ['cleanup', 3])
  const spans = draw(makeHeader(), { attempts: [attemptOf({ laps })] })
  const cleanups = spans.filter(({ name }) => name === 'cleanup')
  assert.is(cleanups.length, 2)
  assert.is.not(cleanups[0]?.spanId, cleanups[1]?.spanId)
})

test('of a run whose thread was lost there is its own span, unless it is not drawn', () => {
  const error = { tag: 'thread-lost', message: 'the thread ended' }
  const header = makeHeader({ outcome: 'infrastructure-error', stopReason: 'thread-lost', error, reward: null })
  const [root, ...more] = draw(header, undefined)
  assert.equal(more, [])
  assert.is(root?.error?.type, 'thread-lost')
  assert.equal(draw(header, undefined, 0), [])
})

test.run()
