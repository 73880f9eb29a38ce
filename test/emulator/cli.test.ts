import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { troupe } from '../support/cli.ts'
import { suite } from '../support/suite.ts'

const test = suite('troupe emulator')

const program = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url))

test('it says what it is and what to set, serves, and ends on Ctrl-C', async () => {
  const child = spawn(process.execPath, [program, 'emulator', '--port', '0', '--speed', '50'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stdout = ''
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const ended = once(child, 'close')
  try {
    await new Promise<void>(resolve => {
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        stdout += text
        if (stdout.includes('API_KEY')) resolve()
      })
      child.once('close', () => resolve())
    })
    const [, url = ''] = /^export DAYTONA_API_URL=(http:\/\/127\.0\.0\.1:\d+\/api)$/m.exec(stdout) ?? []
    assert.match(stdout, /^export DAYTONA_API_KEY=emulator$/m)
    assert.match(stderr, /emulator of Daytona on this machine alone/)
    const answer = await fetch(`${url}/sandbox`, { headers: { authorization: 'Bearer emulator' } })
    assert.equal(await answer.json(), { items: [], nextCursor: null })
  } finally {
    child.kill('SIGINT')
  }
  assert.equal(await ended, [0, null])
})

test('a fault that is none is bad input', async () => {
  const { exitCode, stderr } = await troupe(['emulator', '--port', '0', '--fault', 'nonsense=1'])
  assert.is(exitCode, 2)
  assert.match(stderr, /write KIND=SHARE/)
})

test.run()
