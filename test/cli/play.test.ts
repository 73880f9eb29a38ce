import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { spawn } from '@lydell/node-pty'
import * as assert from 'uvu/assert'
import { troupe } from '../support/cli.ts'
import { suite } from '../support/suite.ts'

const test = suite('cli play')
const program = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url))
const ENVIRONMENT = `
import { Environment, z } from 'troupe/environment'
export const env = new Environment('sums', { version: '1.0.0', workspace: true })
export const fix = env.template('fix', { description: 'Fix it.', args: z.object({ n: z.int() }) }, async function* ({ n }, { workspace }) {
  await workspace.write('sum.sh', 'echo $(( $1 - $2 ))\\n')
  const answer = yield 'sum.sh should add; answer with ' + n
  const { stdout } = await workspace.exec('bash sum.sh 20 22')
  yield { score: stdout.trim() === '42' && answer === String(n) ? 1 : 0, seen: stdout }
})
`
const TASKS = `
import { fix } from './env.ts'
export default [fix({ n: 1 }, { slug: 'one' }), fix({ n: 2 }, { slug: 'two' })]
`
const TALK = `
import { Environment } from 'troupe/environment'
export const env = new Environment('talk', { version: '1.0.0' })
export const say = env.template('say', {}, async function* () {
  yield (yield 'Say x') === 'x' ? 1 : 0
})
export default [say()]
`
let cwd = ''

test.before(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'troupe-play-'))
  await writeFile(join(cwd, 'env.ts'), ENVIRONMENT)
  await writeFile(join(cwd, 'tasks.ts'), TASKS)
  await writeFile(join(cwd, 'talk.ts'), TALK)
})
test.after(() => rm(cwd, { recursive: true, force: true }))

test('commands on stdin are run in the workspace, which is then graded with the answer', async () => {
  const input = 'ls\nsed -i s/-/+/ sum.sh\nbash sum.sh 1 2\n'
  const { exitCode, stdout, stderr } = await troupe(['play', 'tasks.ts', 'two', '--answer', '2'], { cwd, input })
  assert.equal([exitCode, stdout], [0, 'sum.sh\n3\n1\n'], stderr)
  assert.match(stderr, 'sum.sh should add; answer with 2')
})

test('what is not done is graded so, and the whole grade is one document', async () => {
  const { exitCode, stdout, stderr } = await troupe(['play', 'tasks.ts', '--json'], {
    cwd,
    input: 'echo on the screen\n',
  })
  assert.is(exitCode, 0, stderr)
  const { score, seen } = JSON.parse(stdout)
  assert.equal([score, seen], [0, '-2\n'])
  assert.match(stderr, 'on the screen')
})

test('an environment without a shell is answered alone', async () => {
  const { exitCode, stdout, stderr } = await troupe(['play', 'talk.ts', '--env', 'talk.ts', '--answer', 'x'], { cwd })
  assert.equal([exitCode, stdout], [0, '1\n'], stderr)
  assert.match(stderr, 'no shell')
})

test('a task that is not there is refused by name', async () => {
  const { exitCode, stdout } = await troupe(['play', 'tasks.ts', 'three'], { cwd })
  assert.equal([exitCode, stdout], [2, ''])
})

test(
  'in a terminal it is a terminal: keys go to the shell, Ctrl-C too, and the answer is asked for',
  async () => {
    const pty = spawn(process.execPath, [program, 'play', 'tasks.ts', 'one'], {
      cwd,
      cols: 100,
      rows: 30,
      env: { ...process.env, NO_COLOR: '1', TERM: 'xterm' },
    })
    let seen = ''
    let check = () => {}
    const sees = (words: string | RegExp) =>
      new Promise<void>(resolve => {
        check = () => {
          const at = typeof words === 'string' ? seen.indexOf(words) : seen.search(words)
          if (at < 0) return
          seen = seen.slice(at + 1)
          check = () => {}
          resolve()
        }
        check()
      })
    pty.onData(data => {
      seen += data
      check()
    })
    const ended = new Promise<number>(resolve => pty.onExit(({ exitCode }) => resolve(exitCode)))
    try {
      await sees('answer with 1')
      await sees('$ ')
      pty.write('stty size; tty | head -c 5\r')
      await sees('30 100')
      await sees('/dev/')
      // The words come from the process that is to be interrupted: a shell that has not started it yet takes the signal for itself, and waits on.
      pty.write(`sh -c 'echo be""fore; exec sleep 100'; echo af""ter\r`)
      await sees('before')
      pty.write('\u0003')
      await sees('^C')
      await sees('$ ')
      pty.write('sed -i s/-/+/ sum.sh; echo do""ne\r')
      await sees('done')
      pty.write('exit\r')
      await sees('answer (may be empty): ')
      pty.write('1\r')
      await sees(/\r\n1\r\n/)
      assert.is(await ended, 0)
    } finally {
      pty.kill()
      await ended
    }
  },
  { deadlineMs: 90_000 },
)

test.run()
