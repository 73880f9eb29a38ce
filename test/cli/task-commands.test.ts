import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { troupe } from '../support/cli.ts'
import { suite } from '../support/suite.ts'

const test = suite('cli task commands')
const program = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url))
const ENVIRONMENT = `
import { Environment, z } from 'troupe/environment'
export const env = new Environment('echo', { version: '1.0.0' })
export const repeat = env.template('repeat', { description: 'Say it back.', args: z.object({ word: z.string() }) },
  async function* ({ word }) {
    const answer = yield 'Say ' + word
    yield answer === word ? 1 : 0
  })
`
const TASKS = `
import { repeat } from './env.ts'
export default [repeat({ word: 'one' }), repeat({ word: 'two' })]
`
let cwd = ''
let server: ChildProcess | undefined
let url = ''

test.before(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'troupe-task-'))
  await writeFile(join(cwd, 'env.ts'), ENVIRONMENT)
  await writeFile(join(cwd, 'tasks.ts'), TASKS)
  server = spawn(process.execPath, [program, 'serve', 'env.ts', '--port', '0'], {
    cwd,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  if (server.stdout === null) throw new Error('the server has no stdout')
  for await (const line of createInterface({ input: server.stdout })) {
    url = `127.0.0.1:${line.replace('HUD_SERVE_PORT=', '')}`
    break
  }
})
test.after(async () => {
  if (server?.exitCode === null) {
    server.kill('SIGKILL')
    await once(server, 'exit')
  }
  await rm(cwd, { recursive: true, force: true })
})

test('list shows the templates of an environment and the tasks of a file', async () => {
  const templates = await troupe(['task', 'list', '--url', url], { cwd })
  assert.equal([templates.exitCode, templates.stderr], [0, ''])
  assert.match(templates.stdout, /repeat +│ Say it back\./)
  const tasks = await troupe(['task', 'list', '--tasks', 'tasks.ts', '--json'], { cwd })
  assert.equal(
    JSON.parse(tasks.stdout).map((task: { args: unknown }) => task.args),
    [{ word: 'one' }, { word: 'two' }],
  )
})

test('a started task stays parked until its answer is graded, and is graded once', async () => {
  const started = await troupe(['task', 'start', '1', '--tasks', 'tasks.ts', '--url', url, '--json'], { cwd })
  assert.is(started.exitCode, 0, started.stderr)
  const { prompt, sessionId } = JSON.parse(started.stdout)
  assert.is(prompt, 'Say two')
  assert.match(started.stderr, `troupe task grade --session ${sessionId} --url ${url}`)
  const grade = ['task', 'grade', '--session', sessionId, '--url', url, '--answer-file', '-']
  const graded = await troupe(grade, { cwd, input: 'two' })
  assert.equal([graded.exitCode, graded.stdout], [0, '1\n'], graded.stderr)
  const again = await troupe(grade, { cwd, input: 'two' })
  assert.equal([again.exitCode, again.stdout], [2, ''])
  assert.match(again.stderr, `unknown session: '${sessionId}'`)
})

test('with an environment of its own, grade starts the task itself', async () => {
  const { exitCode, stdout } = await troupe(
    ['task', 'grade', 'repeat', '--args', '{"word": "x"}', '--answer', 'y', '--env', 'env.ts', '--json'],
    { cwd },
  )
  assert.is(exitCode, 0)
  assert.is(JSON.parse(stdout).score, 0)
})

test('arguments that do not fit are refused by name', async () => {
  const { exitCode, stderr } = await troupe(['task', 'start', 'repeat', '--url', url], { cwd })
  assert.is(exitCode, 2)
  assert.match(stderr, 'word')
})

test('SIGTERM ends a server in order', async () => {
  server?.kill('SIGTERM')
  if (server !== undefined) assert.equal(await once(server, 'exit'), [0, null])
})

test.run()
