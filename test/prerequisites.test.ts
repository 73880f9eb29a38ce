/** What npm cannot install is asked for only where it is needed. */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { repository } from './support/source-imports.ts'
import { suite } from './support/suite.ts'

const test = suite('prerequisites')
const NOBODY = 65_534

/** As somebody who may not install anything, on a machine without nats-server. */
function check(flags: readonly string[]): Promise<{ readonly code: number | null; readonly said: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [join(repository, 'scripts/prerequisites.mjs'), ...flags], {
      env: { ...process.env, TROUPE_NATS_SERVER: '/nowhere/nats-server' },
      stdio: ['ignore', 'ignore', 'pipe'],
      ...(process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}),
    })
    let said = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text
    })
    child.on('error', reject)
    child.on('close', code => resolve({ code, said }))
  })
}

test('whoever may not install nats-server is told how; nothing else asks for it', async () => {
  const { code, said } = await check(['--nats'])
  assert.is(code, 1)
  assert.match(
    said,
    /^troupe: Missing: nats-server\. Run:\n {2}sudo apt-get update\n {2}sudo apt-get install .*nats-server\n$/,
  )
  assert.not.match((await check([])).said, /nats/)
})

test.run()
