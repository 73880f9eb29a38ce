import * as assert from 'uvu/assert'
import type { CleanRun } from '../../../src/environment/workspace.ts'
import { hasTag } from '../../../src/errors.ts'
import { rejection } from '../../contracts/shell.ts'
import { suite } from '../../support/suite.ts'
import { type OpenedHost, openWorkspace } from './open-workspace.ts'

const test = suite('clean runs')
const PYTHON = '/usr/bin/python3'
let opened: OpenedHost

test.before(async () => {
  opened = await openWorkspace()
})
test.after(() => opened.closeHost())

function cleanRun(run: Partial<CleanRun>): ReturnType<OpenedHost['workspace']['runClean']> {
  return opened.workspace.runClean({ argv: [], files: new Map(), env: {}, collect: [], timeoutMs: 10_000, ...run })
}

const python = (code: string, name = 'main.py') => ({ argv: [PYTHON, name], files: new Map([[name, code]]) })

test('a program sees the files it was given, its environment and nothing of the workspace', async () => {
  await opened.workspace.write('conftest.py', 'raise SystemExit("the agent was here")')
  const result = await cleanRun({
    argv: ['/bin/sh', '-c', 'find . -type f | sort; echo "$A|$HOME|$LANG"'],
    files: new Map<string, string | Uint8Array>([
      ['a.txt', '1'],
      ['dir/b.txt', new Uint8Array([50])],
    ]),
    env: { A: 'x' },
  })
  assert.equal(result, { exitCode: 0, stdout: './a.txt\n./dir/b.txt\nx||\n', stderr: '', collected: new Map() })
})

test('files named in collect come back if they exist and are files', async () => {
  const argv = [
    '/bin/sh',
    '-c',
    'echo out > made; ln -s /etc/passwd link; mkdir dir; ln -s .. dir/up; mkfifo pipe; exit 5',
  ]
  const { exitCode, collected } = await cleanRun({
    argv,
    collect: ['made', 'missing', 'link', 'dir', 'dir/up/made', 'pipe'],
  })
  assert.is(exitCode, 5)
  assert.equal([...collected], [['made', 'out\n']])
})

test('a program over its time is killed', async () => {
  assert.ok(hasTag(await rejection(cleanRun({ argv: ['/bin/sleep', '60'], timeoutMs: 200 })), 'command-timeout'))
})

test('an abort ends it with the signal’s reason', async () => {
  const controller = new AbortController()
  const pending = rejection(cleanRun({ argv: ['/bin/sleep', '60'], signal: controller.signal }))
  controller.abort(new Error('enough'))
  assert.is(((await pending) as Error).message, 'enough')
})

const JUDGE = `
import os, sys
r, w = os.fdopen(3, 'r'), os.fdopen(4, 'w')
for n in (3, 5):
    print(n, file=w, flush=True)
    print('answer', r.readline().strip())
w.close()
print('rest', repr(r.read()))
print('sees', sorted(os.listdir('.')))
`
const PEER = `
import os, sys
for line in sys.stdin: print(int(line) ** 2, flush=True)
print(sorted(os.listdir('.')), os.path.exists('main.py'))
`

test('a peer answers on descriptors 3 and 4, in a directory and a process table of its own', async () => {
  const result = await cleanRun({ ...python(JUDGE), peer: python(PEER, 'peer.py') })
  assert.is(result.stderr, '')
  assert.equal(result.stdout.split('\n').slice(0, 4), [
    'answer 9',
    'answer 25',
    'rest "[\'peer.py\'] False\\n"',
    "sees ['main.py']",
  ])
})

test('megabytes pass between the two, both ways', async () => {
  const judge = `
import os, threading
r, w = os.fdopen(3, 'rb'), os.fdopen(4, 'wb')
def send():
    w.write(b'x' * 5_000_000); w.close()
threading.Thread(target=send).start()
print(len(r.read()))
`
  const result = await cleanRun({ ...python(judge), peer: { argv: ['/bin/cat'], files: new Map() } })
  assert.equal([result.stderr, result.stdout], ['', '5000000\n'])
})

test('a peer that ends, or was never able to start, is an end of file to the judge', async () => {
  const judge = python('import os; print(repr(os.fdopen(3).read()))')
  assert.is((await cleanRun({ ...judge, peer: { argv: ['/bin/false'], files: new Map() } })).stdout, "''\n")
  assert.is((await cleanRun({ ...judge, peer: { argv: ['/no/such'], files: new Map() } })).stdout, "''\n")
})

test('a peer that floods or sleeps ends with the judge', async () => {
  const judge = python('import os; print(len(os.read(3, 2)))')
  const flood = await cleanRun({ ...judge, peer: { argv: ['/bin/sh', '-c', 'yes'], files: new Map() } })
  assert.equal([flood.exitCode, flood.stdout], [0, '2\n'])
  const sleeper = { argv: ['/bin/sleep', '60'], files: new Map<string, string>() }
  assert.is((await cleanRun({ ...python('print("done")'), peer: sleeper })).stdout, 'done\n')
})

test('a time limit ends both', async () => {
  const sleeper = { argv: ['/bin/sleep', '61'], files: new Map<string, string>() }
  const error = await rejection(cleanRun({ argv: ['/bin/sleep', '61'], peer: sleeper, timeoutMs: 300 }))
  assert.ok(hasTag(error, 'command-timeout'))
})

test.run()
