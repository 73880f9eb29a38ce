import * as assert from 'uvu/assert'
import { toJobId, toRunId } from '../../../src/ids.ts'
import { PHASES } from '../../../src/rollout/run.ts'
import {
  attemptSpan,
  isDrawn,
  MOST_TURNS,
  parseTraceparent,
  runTrace,
  secondCleanup,
  stepTrace,
  toTraceparent,
  turnSpan,
} from '../../../src/telemetry/traces/trace-ids.ts'
import { suite } from '../../support/suite.ts'

const test = suite('trace ids')
const job = toJobId('job-1')
const runOf = (n: number) => runTrace(job, toRunId(`run-${n}`))

test('whoever knows the run names the same trace, and no two spans of it are called alike', () => {
  const ids = runOf(1)
  assert.equal(ids.traceId, runOf(1).traceId)
  assert.match(ids.traceId, /^[0-9a-f]{32}$/)
  assert.is.not(ids.traceId, runOf(2).traceId)
  assert.is.not(ids.traceId, runTrace(toJobId('job-2'), toRunId('run-1')).traceId)
  assert.is.not(ids.traceId, stepTrace(job, 1).traceId)
  const numbers = [0]
  for (const attempt of [1, 2, 3]) {
    numbers.push(attemptSpan(attempt), secondCleanup(attempt), ...PHASES.map(phase => attemptSpan(attempt, phase)))
    for (let turn = 0; turn < MOST_TURNS; turn += 1) numbers.push(turnSpan(attempt, turn))
  }
  const spans = numbers.map(number => ids.spanId(number))
  assert.is(new Set(spans).size, numbers.length)
  for (const span of spans) assert.match(span, /^[0-9a-f]{16}$/)
})

test('a traceparent says its trace and span, and is read back', () => {
  const ids = runOf(1)
  const text = toTraceparent(ids, attemptSpan(1, 'agent'))
  assert.is(text, `00-${ids.traceId}-${ids.spanId(attemptSpan(1, 'agent'))}-01`)
  assert.equal(parseTraceparent(text), { traceId: ids.traceId, spanId: ids.spanId(attemptSpan(1, 'agent')) })
  const [trace, span] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331']
  // A later version may say more, which is not looked at.
  assert.equal(parseTraceparent(`cc-${trace}-${span}-01-what-comes`), { traceId: trace, spanId: span })
  for (const wrong of [
    undefined,
    7,
    {},
    '',
    `00-${trace}-${span}-00`,
    `00-${trace}-${span}-01-more`,
    `ff-${trace}-${span}-01`,
    `00-${trace.toUpperCase()}-${span}-01`,
    `00-${'0'.repeat(32)}-${span}-01`,
    `00-${trace}-${'0'.repeat(16)}-01`,
    `00-${trace}-${span}`,
    `00-${trace.slice(1)}-${span}-01`,
    ` 00-${trace}-${span}-01`,
  ])
    assert.is(parseTraceparent(wrong), undefined, String(wrong))
})

test('a share of the runs is drawn, the same ones whoever asks', () => {
  const drawn = (share: number) => Array.from({ length: 4_000 }, (_, n) => isDrawn(runOf(n), share))
  assert.is(drawn(1).every(Boolean), true)
  assert.is(drawn(0).some(Boolean), false)
  const count = drawn(0.25).filter(Boolean).length
  assert.ok(count > 850 && count < 1_150, `${count} of 4,000`)
  assert.equal(drawn(0.25), drawn(0.25))
})

test.run()
