/** `--metrics` and `--events` as a user has them: a real command, scraped while it runs. */
import { existsSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { request } from 'undici'
import * as assert from 'uvu/assert'
import { resultOf } from '../support/cli.ts'
import { suite } from '../support/suite.ts'
import { sampleOf } from '../telemetry/metrics/exposition.ts'
import { NOTE_COUNT } from './notes.ts'
import { repository, until, withScene } from './scene.ts'

const test = suite('watched from outside, end to end')
const SLOW = { deadlineMs: 60_000 }

const SECRET_TASKS = `
import { note } from './env.ts'
export default [0, 1, 2].map(n => ({ ...note({ n }), slug: process.env.SOME_API_KEY + '-' + n }))
`

/** No text before the job has begun. */
async function scrape(url: string): Promise<string> {
  const { body, headers, statusCode } = await request(url, { reset: true })
  if (statusCode === 503) {
    await body.dump()
    return ''
  }
  assert.match(String(headers['content-type']), /^text\/plain; version=0\.0\.4/)
  return body.text()
}

function readEvents(path: string): readonly Record<string, unknown>[] {
  return readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line))
}

test(
  'an evaluation is scraped while it runs and written down to its end, and leaves nothing behind',
  () =>
    withScene(async scene => {
      // A secret that ends up where texts of the user's do: in the names of tasks.
      const secret = 'planted-key-of-the-watched-run'
      await writeFile(join(scene.directory, 'tasks.ts'), SECRET_TASKS)
      const cli = scene.start(
        scene.notes({ hold: [2] }, '--group', '2', '--metrics', '0', '--events', 'events.jsonl'),
        {
          SOME_API_KEY: secret,
        },
      )
      const url = () => /^metrics: (http:\/\/127\.0\.0\.1:\d+\/metrics)$/m.exec(cli.stderr())?.[1]
      await until(() => url() !== undefined, cli.stderr)
      const address = url() ?? ''
      const graded = { outcome: 'graded', environment: 'notes' }
      let text = ''
      await until(
        async () => {
          text = await scrape(address)
          return sampleOf(text, 'troupe_runs_total', graded) === 4 && sampleOf(text, 'troupe_credits_in_use') === 2
        },
        () => `${text}\n${cli.stderr()}`,
      )
      assert.is(sampleOf(text, 'troupe_job_runs', { state: 'planned' }), 2 * NOTE_COUNT)
      assert.is(sampleOf(text, 'troupe_run_phase_seconds_count', { phase: 'grading' }), 4)
      scene.go()
      assert.is(await cli.ended, 0, cli.stderr())
      const { runs, jobId } = resultOf(cli.stdout())
      assert.is(runs.graded, 2 * NOTE_COUNT)
      await request(address).then(
        () => assert.unreachable('the port is closed'),
        error => assert.match(String(error), 'ECONNREFUSED'),
      )
      const events = readEvents(join(scene.directory, 'events.jsonl'))
      const count = (type: string) => events.filter(event => event.type === type).length
      assert.equal([count('run-ended'), count('group-ended')], [2 * NOTE_COUNT, NOTE_COUNT])
      assert.equal([events[0]?.type, events.at(-1)?.type], ['engine-started', 'engine-closed'])
      for (const { at, job } of events)
        assert.equal([job, new Date(String(at)).toISOString()], [jobId, at], 'each line has its job and time')
      const written = events.filter(({ type }) => type === 'run-ended').map(({ task }) => task)
      assert.equal([...new Set(written)].sort(), ['[hidden]-0', '[hidden]-1', '[hidden]-2'])
      assert.equal(scene.leftovers(), [])
    }),
  SLOW,
)

test('a port that is in use, and a file that cannot be, are refused before anything begins', () =>
  withScene(async scene => {
    const server = createServer()
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    const bound = server.address()
    const port = typeof bound === 'object' && bound !== null ? bound.port : 0
    try {
      for (const [option, value, said] of [
        ['--metrics', String(port), `127.0.0.1:${port} is in use`],
        ['--events', 'nowhere/events.jsonl', 'events cannot be written to nowhere/events.jsonl'],
        ['--metrics', 'here', 'Write PORT or HOST:PORT'],
      ] as const) {
        const { exit, stdout, stderr } = await scene.run(scene.notes({}, option, value))
        assert.equal([exit, stdout], [2, ''], stderr)
        assert.ok(stderr.includes(said), stderr)
      }
      assert.equal(scene.starts(), [])
      assert.not.ok(existsSync(scene.journal))
      assert.equal(scene.leftovers(), [])
    } finally {
      await new Promise(resolve => server.close(resolve))
    }
  }))

test(
  'a training tells its steps, too',
  () =>
    withScene(async scene => {
      const tasks = join(repository, 'environments/arith')
      const argv = ['train', tasks, '--steps', '1', '--group', '4', '--task-ids', '0-3', '--no-eval', '--seed', '1']
      const cli = scene.start([...argv, '--threads', '1', '--metrics', '127.0.0.1:0', '--events', 'events.jsonl'])
      const url = () => /^metrics: (\S+)$/m.exec(cli.stderr())?.[1]
      let last = ''
      const look = async () => {
        const address = url()
        if (address === undefined) return false
        // Once the command has ended, nobody answers any more.
        const text = await scrape(address).catch(() => undefined)
        if (text !== undefined) last = text
        return text === undefined && last !== ''
      }
      await until(look, cli.stderr, 50_000)
      assert.is(await cli.ended, 0, cli.stderr())
      assert.is(sampleOf(last, 'troupe_training_step'), 1)
      const events = readEvents(join(scene.directory, 'events.jsonl'))
      const ended = events.find(({ type }) => type === 'step-ended')
      assert.equal([ended?.step, ended?.runs], [0, 16])
      assert.ok(events.some(({ type, step }) => type === 'step-began' && step === 0))
      assert.equal(scene.leftovers(), [])
    }),
  SLOW,
)

test.run()
