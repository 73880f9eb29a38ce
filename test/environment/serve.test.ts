import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { runServe } from '../../src/environment/serve.ts'
import { hasTag } from '../../src/errors.ts'
import { suite } from '../support/suite.ts'
import { withFiles } from '../support/temporary-directory.ts'

const test = suite('serving an environment')

const program = fileURLToPath(new URL('../../src/environment/serve-main.js', import.meta.url))
const source = `import { Environment } from 'troupe/environment'
export const env = new Environment('mini', { version: '3.1.0' })
env.template('t', {}, async function* () { yield 'go'; yield 1 })`

/** Sends each line when the one before was answered; resolves with the replies. */
function talk(to: { port: number } | { path: string }, lines: readonly object[]): Promise<unknown[]> {
  return new Promise((resolve, reject) => {
    const socket = connect(to)
    const replies: unknown[] = []
    socket.on('error', reject)
    createInterface({ input: socket }).on('line', line => {
      replies.push(JSON.parse(line))
      sendNext()
    })
    const sendNext = () => {
      const next = lines[replies.length]
      if (next !== undefined) {
        socket.write(`${JSON.stringify({ jsonrpc: '2.0', ...next })}\n`)
        return
      }
      socket.destroy()
      resolve(replies)
    }
    sendNext()
  })
}

const HELLO = { id: 1, method: 'hello', params: {} }
const START = { id: 2, method: 'tasks.start', params: { id: 't', args: {} } }
const GRADE = { id: 3, method: 'tasks.grade', params: { answer: '' } }

test('a whole task over the wire', async () => {
  await withFiles({ 'env.ts': source }, async directory => {
    const path = join(directory, 'env.ts')
    const server = await runServe({ path, listen: { kind: 'tcp', host: '127.0.0.1', port: 0 } })
    try {
      assert.equal(server.environment, { name: 'mini', version: '3.1.0' })
      assert.is(server.address.kind, 'tcp')
      if (server.address.kind !== 'tcp') return
      const [hello, start, grade] = await talk({ port: server.address.port }, [HELLO, START, GRADE])
      assert.match(JSON.stringify(hello), /"name":"mini"/)
      assert.equal(start, { jsonrpc: '2.0', id: 2, result: { prompt: 'go' } })
      assert.equal(grade, { jsonrpc: '2.0', id: 3, result: { score: 1 } })
    } finally {
      await server.close()
      await server.close()
    }
  })
})

test("the environment's own checks come before everything else", async () => {
  const checked = `${source}\nenv.onServe(() => { throw new Error('no compiler here') })`
  await withFiles({ 'env.ts': checked }, async directory => {
    const error = await runServe({ path: join(directory, 'env.ts') }).catch((thrown: unknown) => thrown)
    assert.match(String(error), /no compiler here/)
  })
})

test('a port in use is told, and what was begun is undone', async () => {
  await withFiles({ 'env.ts': source }, async directory => {
    const path = join(directory, 'env.ts')
    const first = await runServe({ path, listen: { kind: 'tcp', host: '127.0.0.1', port: 0 } })
    try {
      const second = await runServe({ path, listen: first.address }).catch((thrown: unknown) => thrown)
      assert.ok(hasTag(second, 'port-in-use'), String(second))
    } finally {
      await first.close()
    }
  })
})

interface Started {
  readonly child: ChildProcessWithoutNullStreams
  readonly firstLine: Promise<string>
  readonly ended: Promise<{ code: number | null; stderr: string }>
}

function start(argv: readonly string[]): Started {
  const child = spawn(process.execPath, [program, ...argv])
  let stderr = ''
  child.stderr.on('data', data => {
    stderr += data
  })
  const ended = new Promise<{ code: number | null; stderr: string }>(resolve => {
    child.once('close', code => resolve({ code, stderr }))
  })
  const firstLine = new Promise<string>(resolve => createInterface({ input: child.stdout }).once('line', resolve))
  return { child, firstLine, ended }
}

test('the host program says its port and ends cleanly on SIGTERM', async () => {
  await withFiles({ 'env.ts': source }, async directory => {
    const { child, firstLine, ended } = start([join(directory, 'env.ts'), '--port', '0'])
    const port = Number(/^HUD_SERVE_PORT=(\d+)$/.exec(await firstLine)?.[1])
    const [hello] = await talk({ port }, [HELLO])
    assert.match(JSON.stringify(hello), /"session_id":"sess-[0-9a-f]{8}"/)
    child.kill('SIGTERM')
    assert.equal(await ended, { code: 0, stderr: '' })
  })
})

test('with --exit-with-parent it ends when its stdin closes, and takes its socket along', async () => {
  await withFiles({ 'env.ts': source }, async directory => {
    const socket = join(directory, 'host.sock')
    const { child, firstLine, ended } = start([join(directory, 'env.ts'), '--socket', socket, '--exit-with-parent'])
    assert.is(await firstLine, `TROUPE_SERVE_SOCKET=${socket}`)
    await talk({ path: socket }, [HELLO, START])
    child.stdin.end()
    assert.equal(await ended, { code: 0, stderr: '' })
    assert.not.ok(existsSync(socket))
  })
})

test('what keeps it from serving is one line of JSON on stderr', async () => {
  await withFiles({ 'env.ts': 'export const a = 1\nexport const = 2' }, async directory => {
    const { ended } = start([join(directory, 'env.ts'), '--port', '0'])
    const { code, stderr } = await ended
    assert.is(code, 1)
    assert.match(stderr, /^TROUPE_SERVE_ERROR=\{"tag":"module-syntax".*env\.ts:2:13.*\}\n$/s)
  })
})

test.run()
