/** `--dashboard` and `troupe dashboard` as a user starts them: live, beside a running engine, after its end, and after a kill. */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { ask } from '../dashboard/ask.ts'
import { type EventReader, readEvents, runsOf, statesOf, ticksOf, until } from '../feed/scene.ts'
import { program, troupe } from '../support/cli.ts'
import { suite } from '../support/suite.ts'

const test = suite('cli dashboard')
const SLOW = { deadlineMs: 120_000 }
const arith = (name: string) => fileURLToPath(new URL(`../../../environments/arith/${name}`, import.meta.url))
const AGENT = `import { existsSync } from 'node:fs'
export default () => ({ name: 'waits', async run() {
  while (!existsSync('go')) await new Promise(resolve => setTimeout(resolve, 10))
  return { answer: '0', stop: 'done' }
} })
`

interface Started {
  readonly child: ChildProcess
  readonly text: () => string
  readonly ended: Promise<number | NodeJS.Signals | null>
}

async function inDirectory(
  body: (scene: { cwd: string; start: (...argv: string[]) => Started; go: () => Promise<void> }) => Promise<void>,
): Promise<void> {
  const cwd = await mkdtemp(join(tmpdir(), 'troupe-dashboard-'))
  const started: Started[] = []
  try {
    await writeFile(join(cwd, 'agent.mjs'), AGENT)
    await body({
      cwd,
      go: () => writeFile(join(cwd, 'go'), ''),
      start(...argv) {
        const child = spawn(process.execPath, [program, ...argv], {
          cwd,
          stdio: ['ignore', 'pipe', 'pipe'],
          env: { ...process.env, HUD_TELEMETRY_ENABLED: 'false', NO_COLOR: '1' },
        })
        let text = ''
        for (const stream of [child.stdout, child.stderr])
          stream?.setEncoding('utf8').on('data', (more: string) => {
            text += more
          })
        const ended = new Promise<number | NodeJS.Signals | null>(resolve =>
          child.once('close', (code, signal) => resolve(code ?? signal)),
        )
        const one = { child, text: () => text, ended }
        started.push(one)
        return one
      },
    })
  } finally {
    for (const { child, ended } of started) {
      child.kill('SIGKILL')
      await ended
    }
    await rm(cwd, { recursive: true, force: true })
  }
}

const EVAL = [
  'eval',
  arith('tasks.ts'),
  'agent.mjs',
  '--task-ids',
  '0-1',
  '--group',
  '2',
  '--threads',
  '0',
  '--unsafe-no-isolation',
]
const SOCKET = '.troupe/journal/feed.sock'

async function originOf({ text, ended }: Started): Promise<string> {
  const url = () => /http:\/\/[\d.]+:\d+\//.exec(text())?.[0]
  let end: unknown
  void ended.then(code => {
    end = code ?? 'nothing'
  })
  await until(() => url() !== undefined || end !== undefined)
  const found = url()
  if (found === undefined) throw new Error(`it ended with ${String(end)}: ${text()}`)
  return new URL(found).origin
}

const isOver = ({ messages }: EventReader) =>
  messages.some(message => (message.type === 'state' ? message.job.source : message.source) === 'over')
const isLive = ({ messages }: EventReader) =>
  messages.some(({ live = [] }) => live.filter(({ phase }) => phase === 'agent').length === 4)

test(
  'a running job is shown by its own command and, beside it, by another; both are told its end, and the second still shows it',
  () =>
    inDirectory(async ({ cwd, start, go }) => {
      const job = start(...EVAL, '--dashboard', '--price', '0.01')
      const own = await originOf(job)
      await until(() => existsSync(join(cwd, SOCKET)))
      const beside = start('dashboard')
      const readers = [readEvents(`${own}/feed`), readEvents(`${await originOf(beside)}/feed`)]
      await until(() => readers.every(isLive))
      for (const { messages } of readers) {
        const { now } = messages.at(-1) ?? {}
        assert.is(statesOf(messages)[0]?.job.source, 'live')
        assert.is(now?.snapshot?.plannedRuns, 4)
        assert.ok((now?.cost?.amount ?? 0) > 0)
      }
      await go()
      assert.is(await job.ended, 0, job.text())
      await until(() => readers.every(isOver))
      assert.equal(
        readers.map(({ messages }) => runsOf(messages).size),
        [4, 4],
      )
      await readers[0]?.closed
      assert.is(existsSync(join(cwd, SOCKET)), false)
      const [runId = ''] = [...runsOf(readers[1]?.messages ?? []).keys()]
      const { status, json } = await ask(`${await originOf(beside)}/runs/${runId.slice(0, -1)}`)
      assert.equal([status, json().error.tag], [404, 'run-ambiguous'])
      const run = await ask(`${await originOf(beside)}/runs/${runId}`)
      assert.equal([run.status, run.json().run.runId, run.json().answer], [200, runId, '0'])
      beside.child.kill('SIGINT')
      assert.is(await beside.ended, 0)
      await readers[1]?.closed
    }),
  SLOW,
)

test(
  'after a kill the journal says what there is, and the next engine is found where the killed one was',
  () =>
    inDirectory(async ({ cwd, start, go }) => {
      const killed = start(...EVAL, '--seed', '1')
      await until(() => existsSync(join(cwd, SOCKET)))
      const beside = start('dashboard', '--port', '0')
      const reader = readEvents(`${await originOf(beside)}/feed`)
      await until(() => isLive(reader))
      killed.child.kill('SIGKILL')
      await killed.ended
      await until(() => isOver(reader))
      assert.is(existsSync(join(cwd, SOCKET)), true, 'a killed process removes nothing')
      const again = start(...EVAL, '--seed', '1')
      await until(() => statesOf(reader.messages).at(-1)?.job.source === 'live')
      await go()
      assert.is(await again.ended, 0, again.text())
      await until(() => runsOf(reader.messages).size === 4)
      await until(() => ticksOf(reader.messages).length > 0 && !existsSync(join(cwd, SOCKET)))
      beside.child.kill('SIGTERM')
      assert.is(await beside.ended, 0)
    }),
  SLOW,
)

test(
  'Ctrl-C, once or twice, leaves no socket, and ends whoever watches',
  () =>
    inDirectory(async ({ cwd, start }) => {
      for (const times of [1, 2]) {
        const job = start(...EVAL, '--dashboard', '--seed', String(times))
        const reader = readEvents(`${await originOf(job)}/feed`)
        await until(() => existsSync(join(cwd, SOCKET)))
        job.child.kill('SIGINT')
        if (times === 2) {
          await until(() => job.text().includes('ending in order'))
          job.child.kill('SIGINT')
        }
        assert.is(await job.ended, 130, job.text())
        await reader.closed
        assert.is(existsSync(join(cwd, SOCKET)), false)
      }
    }),
  SLOW,
)

test(
  'what is wrong is said before anything has begun',
  () =>
    inDirectory(async ({ cwd, start, go }) => {
      await go()
      const nothing = await troupe(['dashboard', 'missing'], { cwd })
      assert.is(nothing.exitCode, 2)
      assert.match(nothing.stderr, 'missing')
      const holder = createServer()
      await new Promise<void>(resolve => holder.listen(0, '127.0.0.1', resolve))
      const bound = holder.address()
      const port = typeof bound === 'object' ? bound?.port : undefined
      const taken = await troupe([...EVAL, '--dashboard', String(port)], { cwd })
      await new Promise(resolve => holder.close(resolve))
      assert.is(taken.exitCode, 2)
      assert.match(taken.stderr, `127.0.0.1:${port} is in use`)
      assert.is(existsSync(join(cwd, '.troupe')), false, 'no job was begun')
      assert.is(await start(...EVAL).ended, 0)
      const unknown = await troupe(['dashboard', '--job', 'job-of-nobody'], { cwd })
      assert.is(unknown.exitCode, 2)
      assert.match(unknown.stderr, 'job-of-nobody')
      const guessed = await troupe(['dashboard', '--port', '0.0.0.0:0'], {
        cwd,
        variables: { TROUPE_DASHBOARD_TOKEN: 'short' },
      })
      assert.is(guessed.exitCode, 2)
      assert.match(guessed.stderr, 'has 5 characters')
      const wrong = await troupe(['dashboard', '--port', 'here'], { cwd })
      assert.is(wrong.exitCode, 2)
    }),
  SLOW,
)

test.run()
