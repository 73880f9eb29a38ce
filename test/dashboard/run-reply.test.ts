import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { toRunReply } from '../../src/dashboard/run-reply.ts'
import { readPolicyFile } from '../../src/policy/policy-file.ts'
import { makeTokenizer } from '../../src/policy/tokenizer.ts'
import { noteSecret } from '../../src/redact.ts'
import { packTrajectory, toRun } from '../../src/rollout/pack.ts'
import type { Run } from '../../src/rollout/run.ts'
import type { Trajectory } from '../../src/rollout/trajectory.ts'
import { makeHeader, makeTrajectory } from '../journal/fixtures.ts'
import { suite } from '../support/suite.ts'

const test = suite('dashboard runs')
const SECRET = 'a-secret-that-nobody-reads'
const base = fileURLToPath(new URL('../../../environments/calc/policy.base', import.meta.url))
const run = (trajectory: Trajectory): Run => toRun(makeHeader(), packTrajectory(trajectory))

test('a run is its header, its turns with what the tools said, its tokens as plain lists, and its grade', () => {
  const reply = toRunReply(run(makeTrajectory(2, 3, 2)), undefined)
  assert.equal(
    [reply.run.runId, reply.run.environment, reply.run.task, reply.run.agent, reply.run.seed],
    ['run-0-0-0', 'calc', { id: 'repair', args: { variant: 3 } }, 'repairer', 7],
  )
  assert.equal(
    [reply.prompt, reply.answer, reply.grade?.score, reply.tokenizer],
    ['Repair calc.py', { done: true }, 0.5, null],
  )
  const [, second] = reply.turns
  assert.equal([second?.role, second?.text, second?.atMs, second?.tookMs], ['assistant', 'turn 1: naïve ✓', 10, 3.25])
  assert.equal(second?.toolCalls, [
    { name: 'bash', arguments: { command: 'pytest -q' }, result: '2 passed', isError: false },
  ])
  assert.equal(
    [second?.tokens?.prompt, second?.tokens?.output],
    [
      [1, 1_001, 2_001],
      [4_000_000_000, 4_000_000_001],
    ],
  )
  assert.equal(JSON.parse(JSON.stringify(reply)), reply, 'it is plain JSON')
  assert.ok(!('promptTexts' in (second?.tokens ?? {})))
})

test('where the vocabulary is known each token has its text, and together they are what was said', async () => {
  const tokenizer = makeTokenizer((await readPolicyFile(base)).tokenizer)
  const ids = (text: string) => Uint32Array.from(tokenizer.encode(text))
  const output = ids('return a + b\n')
  const tokens = { prompt: ids('Repair calc.py'), output, logprobs: new Float32Array(output.length).fill(-0.5) }
  const turn = { role: 'assistant', text: 'return a + b', atMs: 0, tookMs: 1, tokens } as const
  const trajectory = { ...makeTrajectory(0), turns: [turn] }
  const reply = toRunReply(run(trajectory), tokenizer)
  assert.is(reply.tokenizer, 'embedded')
  const [first] = reply.turns
  assert.is(first?.tokens?.outputTexts?.join(''), 'return a + b\n')
  assert.is(first?.tokens?.promptTexts?.join(''), 'Repair calc.py')
  assert.is(first?.tokens?.outputTexts?.length, first?.tokens?.output.length)
  assert.is(first?.tokens?.logprobs[0], -0.5)
  const foreign = toRunReply(run(makeTrajectory()), tokenizer)
  assert.equal([foreign.tokenizer, foreign.turns[0]?.tokens?.outputTexts], [null, undefined], "another model's run")
})

test('secrets are hidden wherever they are said, and with them the tokens that say them again', () => {
  noteSecret(SECRET)
  const { turns, ...rest } = makeTrajectory(2)
  const call = { name: 'bash', arguments: { command: `echo ${SECRET}` }, result: SECRET, isError: false }
  const trajectory = {
    ...rest,
    prompt: [{ role: 'user', content: `use ${SECRET}` }],
    turns: turns.map(turn => ({ ...turn, text: `it is ${SECRET}`, toolCalls: [call] })),
    answer: { key: SECRET },
    grade: { score: 1, info: { deep: [SECRET] } },
    actorGrade: { score: 0, content: SECRET },
  }
  const reply = toRunReply(run(trajectory), undefined)
  assert.not.match(JSON.stringify(reply), SECRET)
  assert.match(JSON.stringify(reply), '[hidden]')
  assert.is(
    reply.turns.some(turn => 'tokens' in turn),
    false,
  )
  assert.is(toRunReply(run(makeTrajectory()), undefined).turns[0]?.tokens?.output.length, 3)
})

test('a logarithm that is no finite number is null, which JSON knows', () => {
  const trajectory = makeTrajectory(1, 1, 2)
  const [turn] = trajectory.turns
  const logprobs = Float32Array.of(Number.NEGATIVE_INFINITY, Number.NaN)
  const tokens = turn?.tokens === undefined ? undefined : { ...turn.tokens, logprobs }
  assert.ok(turn !== undefined && tokens !== undefined)
  const reply = toRunReply(run({ ...trajectory, turns: [{ ...turn, tokens }] }), undefined)
  assert.equal(reply.turns[0]?.tokens?.logprobs, [null, null])
})

test.run()
