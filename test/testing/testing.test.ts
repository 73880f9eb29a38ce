import * as assert from 'uvu/assert'
import { z } from 'zod'
import { Environment } from '../../src/environment/environment.ts'
import { agentOf, makeMemoryShell, playTask, runAgent, seededIds, VirtualClock } from '../../src/testing/index.ts'
import { assertRejects } from '../support/assert-rejects.ts'
import { suite } from '../support/suite.ts'

const test = suite('the testing kit')

const environment = new Environment('sums')
const add = environment.template('add', { args: z.object({ a: z.int(), b: z.int() }) }, async function* ({ a, b }) {
  const answer = yield `${a} + ${b}`
  if (answer === 'break') throw new Error('the template broke')
  yield Number(answer === String(a + b))
})

test('a task is played over the real wire, and its run says all of it', async () => {
  const solved = await playTask(
    environment,
    add({ a: 1, b: 2 }),
    agentOf(prompt => (prompt === '1 + 2' ? '3' : '?')),
  )
  assert.is(solved.reward, 1)
  assert.is(solved.trajectory.prompt, '1 + 2')
  assert.is(solved.trajectory.answer, '3')
  const missed = await playTask(
    environment,
    add({ a: 1, b: 2 }),
    agentOf(() => '4'),
  )
  assert.is(missed.reward, 0)
})

test('a template that throws and an agent that throws are results that tell them apart', async () => {
  const task = add({ a: 1, b: 2 })
  const broken = await playTask(
    environment,
    task,
    agentOf(() => 'break'),
  )
  assert.equal([broken.outcome, broken.reward, broken.failedPhase], ['environment-error', null, 'grading'])
  const thrown = await playTask(
    environment,
    task,
    agentOf(() => {
      throw new Error('no idea')
    }),
  )
  assert.is(thrown.outcome, 'agent-error')
})

test('commands of an agent and its grader run without isolation where the test says so', async () => {
  const files = new Environment('files', { workspace: true })
  const write = files.template('write', {}, async function* (_, { workspace }) {
    yield 'write 7 to a.txt'
    yield Number(await workspace.read('a.txt'))
  })
  const agent = agentOf(async (_, { shell }) => (await shell()).exec('echo 7 > a.txt'))
  const { reward } = await playTask(files, write(), agent, { isolation: 'none', onError() {} })
  assert.is(reward, 7)
})

test('an agent is run alone, on files in memory, and its shell is closed', async () => {
  const shell = makeMemoryShell({
    files: { 'a.txt': 'one' },
    exec: (command, files) =>
      command === 'ls' ? [...files.keys()].join('\n') : { exitCode: 127, stdout: '', stderr: '?' },
  })
  const agent = agentOf(async (_, context) => {
    const workspace = await context.shell()
    await workspace.writeFile('b.txt', new TextEncoder().encode(`${await workspace.readFile('a.txt')} two`))
    context.record({ role: 'assistant', text: 'written', atMs: 0, tookMs: 0 })
    const { exitCode } = await workspace.exec('cat b.txt')
    return `${(await workspace.exec('ls')).stdout} ${exitCode} ${context.seed}`
  })
  const { answer, stop, turns } = await runAgent(agent, { prompt: 'go', shell, seed: 7 })
  assert.is(answer, 'a.txt\nb.txt 127 7')
  assert.is(stop, 'done')
  assert.is(turns.length, 1)
  assert.is(shell.files.get('b.txt'), 'one two')
  assert.equal(shell.commands, ['cat b.txt', 'ls'])
  assert.ok(shell.closed)
})

test('a memory shell says what it was not told', async () => {
  const shell = makeMemoryShell({ files: { 'a.txt': '' } })
  await assertRejects(shell.readFile('b.txt'), 'file-not-read', /it has a\.txt/)
  await assertRejects(shell.exec('make'), 'command-not-known', /`make`/)
  assert.ok(shell.closed === false)
})

test('seeded ids come out the same, and differ from each other', () => {
  const draw = (seed: number) => {
    const ids = seededIds(seed)
    return [ids.hex(4), ids.hex(4), ids.hex(8)]
  }
  assert.equal(draw(1), draw(1))
  assert.is.not(draw(1)[0], draw(2)[0])
  assert.is(new Set(draw(1)).size, 3)
  assert.match(draw(1)[2] ?? '', /^[0-9a-f]{16}$/)
})

test('the virtual clock stands still until it is moved', async () => {
  const clock = new VirtualClock(0)
  const fired: number[] = []
  clock.after(20, () => fired.push(clock.now()))
  clock.after(10, () => fired.push(clock.now()))
  await clock.advance(15)
  assert.equal(fired, [10])
  await clock.advance(15)
  assert.equal(fired, [10, 20])
  assert.is(clock.wallTime(), 30)
})

test.run()
