import { existsSync } from 'node:fs'
import * as assert from 'uvu/assert'
import { WARM_PYTEST } from '../../../src/environment/graders/warm-pytest.ts'
import type { CleanRun } from '../../../src/environment/workspace.ts'
import { hasTag } from '../../../src/errors.ts'
import { rejection } from '../../contracts/shell.ts'
import { suite } from '../../support/suite.ts'
import { type OpenedHost, openWorkspace } from './open-workspace.ts'

const test = suite('warm programs')
const PYTHON = '/usr/bin/python3'
const ENV = { PATH: '/usr/bin:/bin', HOME: '/tmp', LANG: 'C.UTF-8', PYTEST_DISABLE_PLUGIN_AUTOLOAD: '1' }
let opened: OpenedHost

test.before(async () => {
  opened = await openWorkspace()
})
test.after(() => opened.closeHost())

const FORKED = 'sys.argv[0] == "pytest"'

/** Runs the body of one test by pytest; what it prints comes back. */
function run(body: string, options: Partial<CleanRun> = {}) {
  const code = `import builtins, os, sys, time\ndef test_it():\n${body
    .split('\n')
    .map(line => `    ${line}\n`)
    .join('')}`
  const pytest = ['-q', '-s', '-p', 'no:cacheprovider', 'test_one.py']
  return opened.workspace.runClean({
    argv: [PYTHON, '-I', '-B', '-m', 'pytest', ...pytest],
    warm: { argv: [PYTHON, '-I', '-B', 'warm.py'], files: new Map([['warm.py', WARM_PYTEST]]), arguments: pytest },
    files: new Map([['test_one.py', code]]),
    env: ENV,
    collect: ['out'],
    timeoutMs: 30_000,
    ...options,
  })
}

const said = ({ stdout }: { readonly stdout: string }) => stdout.split('\n')[0]?.replace(/\.$/, '')

test('runs are forks of one program, and find nothing of each other', async () => {
  const look = `builtins.seen = getattr(builtins, "seen", 0) + 1
open("out", "w").write(str(os.getppid()))
print(${FORKED}, builtins.seen, sorted(os.listdir(".")), sorted(k for k in os.environ if k in ("A", "HOME")))`
  const results = await Promise.all([run(look), run(look, { env: ENV }), run(look)])
  for (const result of results) {
    assert.equal([result.exitCode, result.stderr], [0, ''], result.stdout)
    assert.is(said(result), "True 1 ['out', 'stderr', 'stdout', 'test_one.py'] ['HOME']")
  }
  assert.is(new Set(results.map(({ collected }) => collected.get('out'))).size, 1, 'one parent')
})

test('a failing test is a result', async () => {
  assert.is((await run('assert 1 == 2')).exitCode, 1)
})

test('the peer is behind descriptors 3 and 4, and its end is an end of file', async () => {
  const talk = `os.write(4, b"ping\\n")
print(os.read(3, 100).decode().strip(), os.read(3, 100))`
  const peer = { argv: ['/bin/sh', '-c', 'read line; echo "$line pong"'], files: new Map<string, string>() }
  assert.is(said(await run(talk, { peer })), "ping pong b''")
})

test('a run over its time is killed, and the next one is not', async () => {
  const error = await rejection(run('time.sleep(60)', { timeoutMs: 300 }))
  assert.ok(hasTag(error, 'command-timeout'), String(error))
  assert.is((await run('pass')).exitCode, 0)
})

test('an abort ends a run with the signal’s reason', async () => {
  const controller = new AbortController()
  const pending = rejection(run('time.sleep(60)', { signal: controller.signal }))
  controller.abort(new Error('enough'))
  assert.is(((await pending) as Error).message, 'enough')
})

test('when the program dies in a run, the run starts by itself, and later ones have a new program', async () => {
  const result = await run(`if ${FORKED}: os.kill(os.getppid(), 9); time.sleep(60)\nprint("by itself")`)
  assert.equal([result.exitCode, said(result)], [0, 'by itself'], result.stderr)
  assert.is(said(await run(`print(${FORKED})`)), 'True')
})

test('one that cannot be started costs nothing but the attempt', async () => {
  const warm = { argv: ['/no/such'], files: new Map<string, string>(), arguments: [] }
  assert.is(said(await run(`print(${FORKED})`, { warm })), 'False')
})

test('closing the host ends the program and removes its directory', async () => {
  const other = await openWorkspace()
  const { directory } = other.workspace
  const before = opened
  opened = other
  try {
    assert.is((await run('pass')).exitCode, 0)
  } finally {
    opened = before
    await other.closeHost()
  }
  assert.not.ok(existsSync(directory.slice(0, directory.lastIndexOf('/'))))
})

test.run()
