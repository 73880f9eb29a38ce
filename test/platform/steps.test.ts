import * as assert from 'uvu/assert'
import { toTraceExit } from '../../src/platform/bodies.ts'
import { toSafeJson } from '../../src/platform/spans.ts'
import { type Step, toSteps } from '../../src/platform/steps.ts'
import { suite } from '../support/suite.ts'
import { headerOf, trajectoryOf } from './support/runs.ts'
import * as wire from './support/wire.ts'

const test = suite('platform steps')
const PLAIN = { samples: false, model: undefined }

/** Each as the platform takes it, which is checked. */
function checked(steps: readonly Step[]): readonly Step[] {
  for (const step of steps) wire.step.parse(JSON.parse(toSafeJson(step)))
  assert.equal(
    steps.map(({ step_id }) => step_id),
    steps.map((_, index) => index + 1),
  )
  return steps
}

const turn = (role: 'assistant' | 'tool', text: string, atMs: number, more = {}) => ({
  role,
  text,
  atMs,
  tookMs: 10,
  ...more,
})
const call = (name: string, result: string) => ({ name, arguments: { of: name }, result, isError: false })

test('a run is told as setup, prompt, turns with their tools, and evaluation, each at its time', () => {
  const turns = [
    turn('assistant', 'I look', 0),
    turn('tool', '', 10, { toolCalls: [call('bash', 'a file')] }),
    turn('tool', '', 20, { toolCalls: [{ ...call('read', 'gone'), isError: true }] }),
    turn('assistant', 'done', 30, { version: 'ckpt-2' }),
  ]
  const steps = checked(toSteps(headerOf(), trajectoryOf({ turns }), { samples: false, model: 'tiny' }))
  assert.equal(
    steps.map(({ source, started_at }) => [source, started_at.slice(17)]),
    [
      ['task', '05.200Z'],
      ['user', '05.300Z'],
      ['agent', '05.300Z'],
      ['tool', '05.310Z'],
      ['tool', '05.320Z'],
      ['agent', '05.330Z'],
      ['task', '05.400Z'],
    ],
  )
  assert.equal(steps[0]?.task_call, {
    phase: 'setup',
    name: 'fix',
    arguments: { variant: 3 },
    result: { prompt: 'Fix it.' },
  })
  assert.equal(steps[1]?.messages, [{ role: 'user', content: { type: 'text', text: 'Fix it.' } }])
  assert.equal(
    steps[2]?.tool_calls?.map(({ name }) => name),
    ['bash', 'read'],
  )
  assert.is(steps[2]?.model, 'tiny')
  assert.is(steps[2]?.done, undefined)
  assert.equal(steps[4]?.result, {
    content: [{ type: 'text', text: 'gone' }],
    isError: true,
    call_id: steps[4]?.call?.id,
  })
  assert.is(steps[2]?.tool_calls?.[1]?.id, steps[4]?.call?.id)
  assert.equal([steps[5]?.done, steps[5]?.model], [true, 'ckpt-2'])
  assert.equal(steps[6]?.task_call, {
    phase: 'evaluate',
    name: 'fix',
    arguments: { answer: 'done' },
    result: { score: 1 },
  })
})

test('tokens are counted, and told themselves only where that was asked for', () => {
  const tokens = { prompt: Uint32Array.of(1, 2, 3), output: Uint32Array.of(4, 5), logprobs: Float32Array.of(-0.5, -1) }
  const trajectory = trajectoryOf({ turns: [turn('assistant', 'x', 0, { tokens })] })
  const [, , plain] = checked(toSteps(headerOf(), trajectory, PLAIN))
  assert.equal([plain?.usage, plain?.sample], [{ prompt_tokens: 3, completion_tokens: 2 }, undefined])
  const [, , full] = checked(toSteps(headerOf(), trajectory, { ...PLAIN, samples: true }))
  assert.equal(full?.sample, {
    prompt_token_ids: [1, 2, 3],
    output_token_ids: [4, 5],
    output_logprobs: [-0.5, -1],
  })
})

test('chat messages keep their roles, and one with several blocks becomes several', () => {
  const image = { type: 'image', data: 'AAAA', mimeType: 'image/png' }
  const prompt = [
    { role: 'system', content: 'be brief' },
    { role: 'assistant', content: [{ type: 'text', text: 'hello' }, image] },
    { role: 'user', content: { odd: 1 } },
  ]
  const [, user] = checked(toSteps(headerOf(), trajectoryOf({ prompt }), PLAIN))
  assert.equal(user?.messages, [
    { role: 'user', content: { type: 'text', text: 'be brief' } },
    { role: 'assistant', content: { type: 'text', text: 'hello' } },
    { role: 'assistant', content: image },
    { role: 'user', content: { type: 'text', text: '{"odd":1}' } },
  ])
})

test("a verifier's grade stands beside the task's own, which it was asked with", () => {
  const task = { ...headerOf().task, verifier: { env: 'judge', id: 'look', args: {}, slug: 'look' } }
  const trajectory = trajectoryOf({ actorGrade: { score: 0.5 }, grade: { score: 1 } })
  const steps = checked(toSteps(headerOf({ task }), trajectory, PLAIN))
  assert.equal(
    steps.slice(-2).map(({ task_call }) => [task_call?.name, task_call?.arguments, task_call?.result]),
    [
      ['fix', { answer: 'done' }, { score: 0.5 }],
      ['look', { answer: { score: 0.5 } }, { score: 1 }],
    ],
  )
})

test('a run that failed says in which phase, and one that never started has no prompt', () => {
  const error = { tag: 'provision-failed', message: 'no room' }
  const header = headerOf({
    outcome: 'infrastructure-error',
    reward: null,
    stopReason: 'provision-failed',
    failedPhase: 'provisioning',
    error,
    timings: { provisioning: 100 },
  })
  const trajectory = trajectoryOf({ prompt: null, answer: null, grade: null })
  const steps = checked(toSteps(header, trajectory, PLAIN))
  assert.equal(
    steps.map(({ source, error: said }) => [source, said]),
    [['system', '[provisioning] no room']],
  )
  const exit = wire.traceExit.parse(toTraceExit(header, trajectory))
  assert.equal([exit.status, 'reward' in exit, exit.error, exit.stop_reason], ['error', false, 'no room', undefined])
})

test('the exit has the verdict: a reward only where there is one, and stop reasons in the words of the platform', () => {
  const words = {
    done: 'done',
    'max-steps': 'max_steps',
    deadline: 'timeout',
    'malformed-tool-call': 'malformed_tool_call',
  }
  for (const [stopReason, word] of Object.entries(words) as [keyof typeof words, string][])
    assert.is(wire.traceExit.parse(toTraceExit(headerOf({ stopReason }), trajectoryOf())).stop_reason, word)
  const subscores = [{ name: 'tests', value: 0, info: { log: 'long' } }]
  const exit = wire.traceExit.parse(
    toTraceExit(headerOf({ reward: 0 }), trajectoryOf({ grade: { score: 0, subscores } })),
  )
  assert.equal([exit.status, exit.reward], ['completed', 0])
  assert.equal(exit.evaluation_result, { score: 0, subscores: [{ name: 'tests', value: 0 }] })
  assert.is(toTraceExit(headerOf({ outcome: 'cancelled', reward: null }), trajectoryOf()).status, 'cancelled')
})

test.run()
