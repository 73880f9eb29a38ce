import * as fc from 'fast-check'
import * as assert from 'uvu/assert'
import { hasTag } from '../../src/errors.ts'
import { packTrajectory, toRun, unpackTrajectory } from '../../src/rollout/pack.ts'
import type { Trajectory } from '../../src/rollout/trajectory.ts'
import { makeHeader, makeTrajectory } from '../journal/fixtures.ts'
import { suite } from '../support/suite.ts'

const test = suite('pack')

/** Arrays of ids and logprobs compared as what they are. */
function assertSame(actual: Trajectory, expected: Trajectory): void {
  assert.equal(actual, expected)
  for (const { tokens } of actual.turns) {
    if (tokens === undefined) continue
    assert.instance(tokens.prompt, Uint32Array)
    assert.instance(tokens.logprobs, Float32Array)
  }
}

const plain = { noNullPrototype: true }
const tokens = fc.record(
  {
    prompt: fc.uint32Array({ maxLength: 20 }),
    output: fc.uint32Array({ maxLength: 9 }),
    logprobs: fc.float32Array({ maxLength: 9, noNaN: true }),
  },
  plain,
)
const turn = fc.record(
  {
    role: fc.constant('assistant' as const),
    text: fc.string({ unit: 'grapheme' }),
    atMs: fc.nat(),
    tookMs: fc.nat(),
    tokens,
  },
  { requiredKeys: ['role', 'text', 'atMs', 'tookMs'], ...plain },
)
const trajectories: fc.Arbitrary<Trajectory> = fc.record(
  {
    prompt: fc.jsonValue().filter(value => !JSON.stringify(value).includes('__proto__')),
    turns: fc.array(turn, { maxLength: 4 }),
    answer: fc.oneof(fc.string(), fc.constant(null)),
    grade: fc.constant({ score: 1 }),
  },
  plain,
)

test('whatever was packed comes back as it was, wherever the bytes lie in memory', () => {
  fc.assert(
    fc.property(trajectories, fc.nat({ max: 7 }), (trajectory, shift) => {
      const packed = packTrajectory(trajectory)
      assertSame(unpackTrajectory(packed), trajectory)
      const moved = new Uint8Array(packed.byteLength + shift).subarray(shift)
      moved.set(packed)
      assertSame(unpackTrajectory(moved), trajectory)
    }),
    { numRuns: 200 },
  )
})

test('packed bytes own their whole buffer, so that it can be transferred', () => {
  const packed = packTrajectory(makeTrajectory())
  assert.is(packed.byteOffset, 0)
  assert.is(packed.byteLength, packed.buffer.byteLength)
  const moved = structuredClone(packed, { transfer: [packed.buffer] })
  assert.is(packed.byteLength, 0)
  assertSame(unpackTrajectory(moved), makeTrajectory())
})

test('packing a second run does not touch the first', () => {
  const first = packTrajectory(makeTrajectory(1))
  packTrajectory(makeTrajectory(9))
  assertSame(unpackTrajectory(first), makeTrajectory(1))
})

test('something that is no data is an error, and the next run packs as before', () => {
  const cycle: Record<string, unknown> = {}
  cycle.self = cycle
  for (const answer of [cycle, Symbol('answer'), 2n ** 80n])
    assert.throws(
      () => packTrajectory({ ...makeTrajectory(), answer }),
      (error: unknown) => hasTag(error, 'trajectory-not-data'),
    )
  assertSame(unpackTrajectory(packTrajectory(makeTrajectory())), makeTrajectory())
})

test('bytes that are cut short or are something else are refused', () => {
  const packed = packTrajectory(makeTrajectory())
  const refused = (bytes: Uint8Array) =>
    assert.throws(
      () => unpackTrajectory(bytes),
      (error: unknown) => hasTag(error, 'unreadable-trajectory'),
    )
  for (const length of [0, 3, 8, 40, packed.byteLength - 4]) refused(packed.slice(0, length))
  refused(new Uint8Array(100))
  const badBody = packed.slice()
  badBody.fill(0xc1, 8, 60)
  refused(badBody)
})

test('a key named __proto__ does not reach a prototype', () => {
  const prompt: unknown = JSON.parse('{"__proto__":{"polluted":true}}')
  const unpacked = unpackTrajectory(packTrajectory({ prompt, turns: [], answer: null, grade: null }))
  assert.is(JSON.stringify(unpacked).includes('polluted'), true)
  assert.is(Object.getPrototypeOf(unpacked.prompt), Object.prototype)
})

test('a run unpacks its trajectory when it is first read, once', () => {
  const bytes = packTrajectory(makeTrajectory())
  const run = toRun(makeHeader({ bytes: bytes.byteLength }), bytes)
  assert.is(run.reward, 0.5)
  assertSame(run.trajectory, makeTrajectory())
  assert.is(run.trajectory, run.trajectory)
  const lazy = toRun(makeHeader(), new Uint8Array(3))
  assert.is(lazy.runId, 'run-0-0-0')
  assert.throws(() => lazy.trajectory)
})

test.run()
