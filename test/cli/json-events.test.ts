/** What `--json` prints while a command runs. */
import { spawn } from 'node:child_process'
import { Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { makeConsole } from '../../src/cli/console.ts'
import { openJsonEvents } from '../../src/cli/json-events.ts'
import { program, resultOf, troupe } from '../support/cli.ts'
import { suite } from '../support/suite.ts'
import { VirtualClock } from '../support/virtual-clock.ts'
import { jobOf } from '../telemetry/metrics/scene.ts'

const test = suite('events on stdout')
const arith = fileURLToPath(new URL('../../../environments/arith', import.meta.url))

/** Takes a line only when it is told to. */
function makeReader() {
  let text = ''
  let give: (() => void) | undefined
  const stdout = new Writable({
    highWaterMark: 16,
    write(bytes, _encoding, taken) {
      text += String(bytes)
      give = taken
    },
  })
  return {
    stdout,
    read() {
      const taken = give
      give = undefined
      taken?.()
    },
    lines: () =>
      text
        .split('\n')
        .filter(line => line !== '')
        .map(line => JSON.parse(line)),
  }
}

test('a reader that is slow loses events before memory is lost, is told how many, and gets the result in any case', async () => {
  const { stdout, read, lines } = makeReader()
  const console = makeConsole(stdout, new Writable({ write: (_bytes, _encoding, done) => done() }), {})
  const events = openJsonEvents(console, new VirtualClock(), error => assert.unreachable(String(error)))
  events.attach(jobOf())
  const told = 20_000
  for (let count = 0; count < told; count += 1) events.append({ type: 'progress', done: count })
  let isOver = false
  const finished = events.finish({ answer: 42 }).then(() => {
    isOver = true
  })
  while (!isOver) {
    await new Promise(resolve => setImmediate(resolve))
    read()
  }
  await finished
  const seen = lines()
  assert.equal(seen.at(-1).result, { answer: 42 })
  assert.is(seen.at(-1).job, 'job-1')
  const kept = seen.filter(({ type }) => type === 'progress').length
  const dropped = seen.filter(({ type }) => type === 'events-dropped').reduce((sum, { count }) => sum + count, 0)
  assert.ok(kept >= 8_192 && kept < told, `${kept} were kept`)
  assert.is(kept + dropped, told)
})

const EVAL = ['eval', `${arith}/tasks.ts`, `${arith}/adder.ts`, '--all', '--threads', '0', '--unsafe-no-isolation']

test('an eval tells its engine, its runs and groups, its progress, and its report last', async () => {
  const { exitCode, stdout, stderr } = await troupe([...EVAL, '--no-journal', '--json', '--quiet'])
  assert.equal([exitCode, stderr], [0, ''])
  const lines = stdout
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line))
  const report = resultOf(stdout)
  const count = (type: string) => lines.filter(line => line.type === type).length
  assert.is(lines[0].type, 'engine-started')
  assert.is(count('run-ended'), report.runs.planned)
  assert.is(count('group-ended'), report.runs.planned)
  assert.is(count('engine-closed'), 1)
  assert.ok(lines.every(({ at, job }) => job === report.jobId && !Number.isNaN(Date.parse(at))))
  const { done, total, unit, passRate } = lines.filter(({ type }) => type === 'progress').at(-1)
  assert.equal([done, total, unit, passRate], [report.runs.planned, report.runs.planned, 'runs', report.passRate])
})

test(
  'a pipe that nobody reads holds up no rollout and loses no result; one whose reader left ends the command without a word',
  async () => {
    const argv = [...EVAL, '--group', '8', '--no-journal', '--json', '--quiet', '--seed', '1']
    const child = spawn(process.execPath, [program, ...argv], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, HUD_TELEMETRY_ENABLED: 'false' },
    })
    const ended = new Promise<number | null>(resolve => child.once('close', resolve))
    let text = ''
    // Long enough for the pipe to be full; what comes then waits.
    await new Promise<void>(resolve => child.stdout.once('readable', resolve))
    child.stdout.setEncoding('utf8')
    for await (const part of child.stdout) {
      text += part
      await new Promise(resolve => setImmediate(resolve))
    }
    assert.is(await ended, 0)
    assert.ok(text.length > 65_536, 'more than a pipe holds')
    assert.is(resultOf(text).runs.graded, resultOf(text).runs.planned)

    const few = [...EVAL, '--no-journal', '--json', '--quiet']
    const head = spawn('sh', ['-c', '"$0" "$@" | head -n 1', process.execPath, program, ...few], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, HUD_TELEMETRY_ENABLED: 'false' },
    })
    let heard = ''
    head.stderr.setEncoding('utf8').on('data', (more: string) => {
      heard += more
    })
    const lines: string[] = []
    for await (const part of head.stdout.setEncoding('utf8')) lines.push(part)
    assert.is(JSON.parse(lines.join('')).type, 'engine-started')
    assert.is(heard, '')
  },
  { deadlineMs: 90_000 },
)

test.run()
