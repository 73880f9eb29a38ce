/** `troupe top` beside an engine that really runs, on a real pseudo-terminal. */
import * as assert from 'uvu/assert'
import { type Cli, type Scene, until, withScene } from '../end-to-end/scene.ts'
import { program } from '../support/cli.ts'
import { suite } from '../support/suite.ts'
import { isRestored, openTerminal, type TestTerminal } from '../support/terminal.ts'

const test = suite('troupe top')
const SLOW = { deadlineMs: 180_000 }
const START_MS = 90_000

/** An `eval` of which two agents have answered and one waits for `scene.go()`: the tests watch it one after the other, and the last one ends it. */
let scene: Scene
let engine: Cli
let endScene: () => void
let over: Promise<void>

test.before(async () => {
  const held = new Promise<void>(resolve => {
    endScene = resolve
  })
  await new Promise<void>((ready, failed) => {
    over = withScene(async own => {
      scene = own
      engine = own.start(own.notes({ hold: [2] }, '--dashboard'))
      await until(
        async () => (await own.durable()).length === 2,
        () => engine.stderr(),
        START_MS,
      )
      ready()
      await held
      own.go()
      await engine.ended
      assert.equal(own.leftovers(), [])
    })
    over.catch(failed)
  })
})
test.after(async () => {
  endScene()
  await over
})

async function withTop(
  size: { readonly columns: number; readonly rows: number },
  body: (terminal: TestTerminal) => Promise<void>,
): Promise<void> {
  const terminal = openTerminal(['-e', SHELL, program, 'top'], { cwd: scene.directory, ...size })
  try {
    await body(terminal)
  } finally {
    await terminal.close()
  }
}

/** What is on the screen before and after: a shell's prompt, so to speak. */
const SHELL = `
  const { spawn } = require('node:child_process')
  console.log('before top')
  const child = spawn(process.execPath, process.argv.slice(1), { stdio: 'inherit' })
  for (const name of ['SIGINT', 'SIGTERM']) process.on(name, () => child.kill(name))
  child.on('close', code => { console.log('top ended with ' + code); process.exitCode = code })
`

test(
  'what goes on is seen in 80x24 and in a wide terminal, keys choose lists, and q gives the screen back',
  () =>
    withTop({ columns: 80, rows: 24 }, async terminal => {
      await terminal.until(screen => screen.some(line => /^note-\S+ +0 {2}agent/.test(line)))
      const screen = terminal.screen()
      assert.ok(terminal.isAlternate())
      assert.match(screen[0] ?? '', /^troupe top {2}\S+ {2}job-\w+ {2}running {2}/)
      assert.ok(screen.some(line => /2\/3 runs/.test(line)))
      assert.ok(screen.some(line => /^graded 2 {2}passed 100\.0 %.* in flight 1/.test(line)))
      assert.ok(screen.some(line => /credits 1\/128/.test(line)))
      assert.ok(screen.some(line => /threads 1 {2}memory \d+ MiB/.test(line)))
      assert.match(screen.at(-1) ?? '', /^q quit/)
      terminal.press('3')
      await terminal.until(now => now.some(line => line.startsWith('── failures 0')))
      terminal.press('\t')
      await terminal.until(now => now.some(line => line.startsWith('── said unasked')))
      terminal.resize(160, 40)
      terminal.press('0')
      await terminal.until(now => now.length === 40 && now.some(line => /^note-\S+ +0 {2}agent .* run-\w+/.test(line)))
      terminal.press('q')
      assert.is(await terminal.ended, 0)
      assert.not(terminal.isAlternate())
      assert.ok(isRestored(terminal.raw()))
      assert.ok(terminal.screen().includes('before top'))
      assert.ok(terminal.screen().includes('top ended with 0'))
      assert.not(terminal.screen().some(line => line.includes('rollouts')))
    }),
  SLOW,
)

test(
  'Ctrl-C and SIGTERM give the screen back, too, and the engine goes on',
  async () => {
    await withTop({ columns: 80, rows: 24 }, async terminal => {
      await terminal.until(screen => screen.some(line => line.includes('2/3 runs')))
      terminal.press('\u0003')
      assert.is(await terminal.ended, 0)
      assert.ok(isRestored(terminal.raw()) && !terminal.isAlternate())
    })
    await withTop({ columns: 60, rows: 12 }, async terminal => {
      await terminal.until(screen => screen.some(line => line.includes('2/3 runs')))
      terminal.signal('SIGTERM')
      assert.is(await terminal.ended, 130)
      assert.ok(isRestored(terminal.raw()) && !terminal.isAlternate())
      assert.ok(terminal.screen().includes('before top'))
    })
    assert.is(engine.child.exitCode, null)
  },
  SLOW,
)

test('a program that breaks gives the screen back, and its error is to be read there', async () => {
  const url = new URL('../../src/top/screen.js', import.meta.url).href
  const source = `
    import { openScreen } from '${url}'
    openScreen(process.stdout).draw('drawn')
    setTimeout(() => { throw new Error('broken on purpose') }, 50)
  `
  const terminal = openTerminal(['--input-type=module', '-e', source])
  try {
    assert.is(await terminal.ended, 1)
    assert.match(terminal.raw(), 'drawn')
    assert.ok(isRestored(terminal.raw()) && !terminal.isAlternate())
    assert.ok(terminal.all().some(line => line.includes('broken on purpose')))
  } finally {
    await terminal.close()
  }
})

test(
  'through a pipe it prints once, as text or as one document; what is not there is an error',
  async () => {
    const piped = await scene.run(['top'])
    assert.is(piped.exit, 0, piped.stderr)
    assert.match(piped.stdout, /running/)
    assert.match(piped.stdout, /2\/3 runs/)
    assert.not.ok(piped.stdout.includes('\u001b'))
    const { job, live, now } = JSON.parse((await scene.run(['top', '--json'])).stdout)
    assert.equal([job.source, live.length, now.snapshot.finishedRuns], ['live', 1, 2])
    assert.is(live[0].phase, 'agent')
    const [, url = ''] = /^dashboard: (\S+)$/m.exec(engine.stderr()) ?? []
    const far = JSON.parse((await scene.run(['top', url, '--json'])).stdout)
    assert.equal([far.job.jobId, far.live.length], [job.jobId, 1], 'the same by the address of the dashboard')
    for (const [argv, says] of [
      [['nowhere'], /there is no journal at nowhere/],
      [['--job', 'job-x'], /job-x/],
      [['http://127.0.0.1:1', '--once', '--job', 'x'], /--job and an address do not go together/],
    ] as const) {
      const { exit, stdout, stderr } = await scene.run(['top', ...argv])
      assert.equal([exit, stdout], [2, ''], stderr)
      assert.match(stderr, says)
    }
  },
  SLOW,
)

test(
  'a job that ends while it is watched says so and stays; afterwards its last state is shown',
  async () => {
    await withTop({ columns: 100, rows: 30 }, async terminal => {
      await terminal.until(screen => screen.some(line => line.includes('2/3 runs')))
      scene.go()
      await engine.ended
      await terminal.until(screen => / {2}over {2}/.test(screen[0] ?? ''))
      assert.ok(terminal.screen().some(line => /3\/3 runs|3 runs ended/.test(line)))
      terminal.press('q')
      assert.is(await terminal.ended, 0)
    })
    const once = await scene.run(['top', '--once'])
    assert.is(once.exit, 0, once.stderr)
    assert.match(once.stdout, /job-\w+ {2}over {2}/)
    assert.match(once.stdout, /3 runs ended|3\/3 runs/)
  },
  SLOW,
)

test.run()
