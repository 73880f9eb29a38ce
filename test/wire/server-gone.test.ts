import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { makeControlClient } from '../../src/wire/client.ts'
import { assertRejects } from '../support/assert-rejects.ts'
import { suite } from '../support/suite.ts'
import { withFiles } from '../support/temporary-directory.ts'
import { VirtualClock } from '../support/virtual-clock.ts'

const test = suite('a server behind a socket file that has ended')

/** On a clock that stands still: whoever waits for a server to come never ends. */
async function connectTo(path: string): Promise<void> {
  const client = makeControlClient({ clock: new VirtualClock() })
  try {
    const several = Array.from({ length: 3 }, () =>
      client.connect({ kind: 'unix', path }, { clock: new VirtualClock(), deadlineMs: 60_000 }),
    )
    for (const session of several) await assertRejects(session, 'dial-failed', /no connection to/)
  } finally {
    await client.close()
  }
}

test('is not waited for where its file is gone', () => withFiles({}, directory => connectTo(join(directory, 'none'))))

test('is not waited for where its file is left', () =>
  withFiles({}, async directory => {
    const path = join(directory, 'left')
    const program = `require('node:net').createServer().listen(process.argv[1], () => console.log('listening'))`
    const server = spawn(process.execPath, ['-e', program, path], { stdio: ['ignore', 'pipe', 'inherit'] })
    const ended = once(server, 'exit')
    await once(server.stdout, 'data')
    server.kill('SIGKILL')
    await ended
    assert.ok(existsSync(path))
    await connectTo(path)
  }))

test.run()
