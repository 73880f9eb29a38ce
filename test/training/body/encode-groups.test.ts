import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import * as assert from 'uvu/assert'
import { packTrajectory, toRun } from '../../../src/rollout/pack.ts'
import { encodeGroups, toBody } from '../../../src/training/body/encode-groups.ts'
import { type Encoder, openEncoder } from '../../../src/training/body/encoder.ts'
import { checkGroups } from '../../../src/training/check-groups.ts'
import { forwardBackwardEnvelope, toInputs } from '../../../src/training/payload.ts'
import { assertRejects } from '../../support/assert-rejects.ts'
import { suite } from '../../support/suite.ts'
import { VirtualClock } from '../../support/virtual-clock.ts'
import { makeTrainingGroups, makeTrainingRun } from '../fixtures.ts'

const test = suite('encode groups')
let encoder: Encoder

test.before(() => {
  encoder = openEncoder()
})
test.after(() => encoder.close())

async function encode(runs: Parameters<typeof checkGroups>[0], groupSize?: number) {
  const groups = await encodeGroups(encoder, checkGroups(runs, groupSize))
  const envelope = forwardBackwardEnvelope(groupSize === undefined ? {} : { groupSize })
  const body = toBody(
    envelope,
    groups.flatMap(({ fragments }) => fragments),
  )
  const text = Buffer.concat(body.chunks).toString('utf8')
  assert.is(Buffer.byteLength(text), body.bytes, 'the length that is sent first is the right one')
  return { groups, sent: JSON.parse(text) as Record<string, unknown> }
}

/** Numbers as a service that computes in floats of 32 bits sees them. */
function asFloats(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (_, each) => (typeof each === 'number' ? Math.fround(each) : each))
}

test('a body says what the plain form of its runs says, and absent options are not in it', async () => {
  const runs = makeTrainingGroups(3, 2, { outputIds: 40 })
  const { sent, groups } = await encode(runs, 2)
  assert.equal(Object.keys(sent), ['inputs', 'loss_fn', 'group_size', 'reward_scale', 'num_substeps'])
  assert.equal(asFloats(sent.inputs), asFloats(toInputs(runs)))
  assert.equal(
    groups.map(({ groupId, runIds, datums }) => ({ groupId, runIds, datums })),
    [0, 1, 2].map(group => ({ groupId: `group-${group}`, runIds: [`run-${group}-0`, `run-${group}-1`], datums: 4 })),
  )
  assert.not('group_size' in (await encode(runs.slice(0, 2))).sent)
})

test('traces and runs mix in their order', async () => {
  const run = makeTrainingRun()
  const { sent } = await encode(['trace-"1"', run, 'trace-2'])
  assert.equal(asFloats(sent.inputs), asFloats(toInputs(['trace-"1"', run, 'trace-2'])))
})

test('turns without tokens, or without output, are no samples; a prompt that is empty is left out', async () => {
  const tokens = { prompt: new Uint32Array(0), output: Uint32Array.of(7), logprobs: Float32Array.of(-0.5) }
  const silent = { prompt: Uint32Array.of(1), output: new Uint32Array(0), logprobs: new Float32Array(0) }
  const run = makeTrainingRun({ tokens: [undefined, silent, tokens] })
  const { sent } = await encode([run])
  assert.equal(sent.inputs, [{ samples: [{ output_token_ids: [7], output_logprobs: [-0.5] }], reward: 0 }])
})

test('a run is encoded however it holds its trajectory, and keeps it', async () => {
  const packed = makeTrainingRun()
  const plain = { ...packed, trajectory: packed.trajectory }
  const kept = toRun(packed, () => packTrajectory(packed.trajectory))
  const { sent } = await encode([plain, packed, kept])
  const [one, other, third] = sent.inputs as unknown[]
  assert.equal(one, other)
  assert.equal(one, third)
  assert.is(plain.trajectory.turns[0]?.tokens?.output.length, 3)
  assert.is(packed.trajectory.turns[0]?.tokens?.output.length, 3)
})

test('the first bad run in their order is the one that is named, whatever came back first', async () => {
  const bad = { prompt: Uint32Array.of(1), output: Uint32Array.of(2, 3), logprobs: Float32Array.of(-1, Number.NaN) }
  const runs = makeTrainingGroups(1, 20).map((run, member) =>
    member === 3 || member === 11 ? makeTrainingRun({ member, tokens: [bad] }) : run,
  )
  const error = await assertRejects(encode(runs), 'bad-logprob', /output token 1 in turn 0 of run run-0-3/)
  assert.equal(error.data.details?.turn, 0)
  assert.is((await encode(makeTrainingGroups(1, 2))).groups.length, 1, 'the thread goes on')
})

test('a piece that does not come in time is an error, and the next one gets a fresh thread', async () => {
  const clock = new VirtualClock()
  const slow = openEncoder(clock)
  const piece = slow.encodeRows([new Float32Array(4_000_000)])
  await Promise.all([clock.advance(60_001), assertRejects(piece, 'encoder-late')])
  const { json } = await slow.encodeRows([Float32Array.of(1, 2)])
  assert.is(Buffer.from(json).toString(), ',[1,2]')
  assert.is(clock.pending, 0)
  await slow.close()
})

test('a process that leaves its client open ends all the same', async () => {
  const path = new URL('../../../src/training/body/encoder.js', import.meta.url)
  const code = `const { openEncoder } = await import(${JSON.stringify(path.href)})
    await openEncoder().encodeRows([Float32Array.of(1)])`
  const process = new Worker(new URL(`data:text/javascript,${encodeURIComponent(code)}`))
  const [exitCode] = await once(process, 'exit')
  assert.is(exitCode, 0)
})

test.run()
