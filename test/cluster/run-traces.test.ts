import * as assert from 'uvu/assert'
import { systemClock } from '../../src/clock.ts'
import { pack } from '../../src/cluster/codec.ts'
import { makeTracePacker, parseTrace } from '../../src/cluster/run-traces.ts'
import { hasTag } from '../../src/errors.ts'
import { noteSecret } from '../../src/redact.ts'
import type { RunHeader } from '../../src/rollout/run.ts'
import type { AttemptTrace, RunTrace, TurnTrace } from '../../src/telemetry/traces/run-trace.ts'
import { MOST_TURNS } from '../../src/telemetry/traces/trace-ids.ts'
import { suite } from '../support/suite.ts'

const test = suite('traces of runs on their way')

const SUBJECT = 'troupe.results.job.group'
const SECRET = 'planted-key-of-this-worker'

function attemptOf(turns: readonly TurnTrace[]): AttemptTrace {
  const laps = [{ phase: 'agent', atMs: 0, tookMs: 10 }] as const
  return { attempt: 1, outcome: 'graded', startedAt: 1, tookMs: 10, laps, turns, turnCount: turns.length }
}

const toPacked = (trace: RunTrace, message?: string) => {
  const error = message === undefined ? {} : { error: { tag: 'failed', message } }
  // Nothing else of the header is read.
  return makeTracePacker('worker-one', systemClock)(trace, error as RunHeader)
}

test('a trace arrives as it was, with its worker and without the secrets of that', () => {
  noteSecret(SECRET)
  const turns = [
    { atMs: 0, tookMs: 1, inputTokens: 3, outputTokens: 4, version: `v-${SECRET}` },
    { atMs: 1, tookMs: 2, tool: SECRET, isError: true as const },
    { atMs: 3, tookMs: 1 },
  ]
  const packed = toPacked({ attempts: [attemptOf(turns)] }, `the key ${SECRET} is wrong`)
  const [first = turns[2], second = turns[2], third = turns[2]] = turns
  assert.equal(parseTrace(SUBJECT, packed), {
    attempts: [attemptOf([{ ...first, version: 'v-[hidden]' }, { ...second, tool: '[hidden]' }, third] as TurnTrace[])],
    worker: 'worker-one',
    said: 'the key [hidden] is wrong',
  })
})

test('one that is too large for a message goes without its turns', () => {
  const turns = Array.from({ length: MOST_TURNS }, (_, n) => ({ atMs: n, tookMs: 1, tool: 'a tool '.repeat(50) + n }))
  const attempts = [attemptOf(turns), { ...attemptOf(turns), attempt: 2 }]
  const packed = toPacked({ attempts })
  assert.ok(packed.byteLength < 128 * 1024)
  const arrived = parseTrace(SUBJECT, packed)
  assert.equal(
    arrived.attempts.map(({ attempt, turns, turnCount, laps }) => [attempt, turns.length, turnCount, laps.length]),
    [
      [1, 0, MOST_TURNS, 1],
      [2, 0, MOST_TURNS, 1],
    ],
  )
})

test('what no spans can be made of is refused', () => {
  const whole = attemptOf([{ atMs: 0, tookMs: 1 }])
  const broken = [
    {},
    { attempts: 'none' },
    { attempts: [{}] },
    { attempts: [null] },
    { attempts: [whole], worker: 1 },
    { attempts: [{ ...whole, laps: [{ phase: 'lunch', atMs: 0, tookMs: 1 }] }] },
    { attempts: [{ ...whole, startedAt: Number.NaN }] },
    { attempts: [{ ...whole, turns: [{ atMs: 0, tookMs: 1, tool: {} }] }] },
    { attempts: [{ ...whole, turns: Array(MOST_TURNS + 1).fill({ atMs: 0, tookMs: 1 }) }] },
  ]
  for (const fields of broken)
    assert.throws(
      () => parseTrace(SUBJECT, pack(fields)),
      (error: unknown) => hasTag(error, 'bad-cluster-message') && /no spans can be made/.test(error.message),
      JSON.stringify(fields),
    )
  assert.throws(
    () => parseTrace(SUBJECT, new Uint8Array([0xc1])),
    (error: unknown) => hasTag(error, 'bad-cluster-message'),
  )
  assert.equal(parseTrace(SUBJECT, pack({ attempts: [whole] })), { attempts: [whole] })
})

test.run()
