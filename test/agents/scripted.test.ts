import * as assert from 'uvu/assert'
import { makeScriptedAgent } from '../../src/agents/scripted.ts'
import { hasTag } from '../../src/errors.ts'
import type { Turn } from '../../src/rollout/trajectory.ts'
import type { Shell } from '../../src/wire/shell.ts'
import { suite } from '../support/suite.ts'
import { VirtualClock } from '../support/virtual-clock.ts'

const test = suite('the scripted agent')

function makeContext(shell: () => Promise<Shell>, signal = new AbortController().signal) {
  const turns: Turn[] = []
  return { turns, context: { prompt: 'go', seed: 1, signal, shell, record: (turn: Turn) => void turns.push(turn) } }
}

const noShell = () => Promise.reject(new Error('no shell here'))

function shellThat(exec: Shell['exec']): Shell {
  return {
    protocol: 'exec/1',
    cwd: '/workspace',
    exec,
    readFile: async () => '',
    writeFile: async () => {},
    close: async () => {},
  }
}

test('it runs its commands in turn, records each, and answers', async () => {
  const clock = new VirtualClock()
  const shell = shellThat(async command => {
    await clock.advance(10)
    return { exitCode: command === 'false' ? 1 : 0, stdout: `out of ${command}\n`, stderr: '' }
  })
  const { turns, context } = makeContext(async () => shell)
  const agent = makeScriptedAgent({ commands: ['ls', 'false'], answer: '42' }, clock)
  assert.equal(await agent.run(context), { answer: '42', stop: 'done' })
  assert.equal(
    turns.map(({ text, atMs, tookMs, toolCalls }) => [text, atMs, tookMs, toolCalls?.[0]?.isError]),
    [
      ['$ ls\nout of ls\n', 0, 10, false],
      ['$ false\nout of false\n', 10, 10, true],
    ],
  )
})

test('without commands it needs no shell', async () => {
  const { turns, context } = makeContext(noShell)
  assert.equal(await makeScriptedAgent({ answer: '5' }).run(context), { answer: '5', stop: 'done' })
  assert.equal(turns, [])
})

test('an abort ends it, between commands too', async () => {
  const controller = new AbortController()
  const shell = shellThat(async () => {
    controller.abort(new Error('enough'))
    return { exitCode: 0, stdout: '', stderr: '' }
  })
  const { turns, context } = makeContext(async () => shell, controller.signal)
  const error = await makeScriptedAgent({ commands: ['a', 'b'] })
    .run(context)
    .catch((thrown: unknown) => thrown)
  assert.match(String(error), 'enough')
  assert.is(turns.length, 1)
})

test('a config it does not know is refused with all its problems', () => {
  try {
    makeScriptedAgent({ commands: 'ls', anwser: '42' })
    assert.unreachable()
  } catch (error) {
    assert.ok(hasTag(error, 'bad-agent-config'))
    assert.match(error.message, /commands:.*anwser/s)
  }
})

test.run()
