import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { troupe } from '../support/cli.ts'
import { suite } from '../support/suite.ts'

const test = suite('cli policy serve')
const PROGRAM = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url))

const DEMONSTRATIONS = `
export default {
  name: 'one',
  tools: [],
  settings: {
    width: 8, heads: 1, layers: 1, context: 32, merges: 8, steps: 1, batch: 1, learningRate: 0.01, sharpen: 1, seed: 1,
  },
  corpus: () => ['yes no'],
  draw: () => [{ context: [{ role: 'user', content: 'yes?' }], reply: { content: 'no', toolCalls: [] } }],
}`

let cwd = ''
let child: ChildProcessWithoutNullStreams | undefined
test.before(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'troupe-serve-'))
  await writeFile(join(cwd, 'one.js'), DEMONSTRATIONS)
  const { exitCode, stderr } = await troupe(['policy', 'make', 'one.js', '--out', 'one.base', '--quiet'], { cwd })
  assert.is(exitCode, 0, stderr)
})
test.after(async () => {
  child?.kill('SIGKILL')
  await rm(cwd, { recursive: true, force: true })
})

test(
  'a policy is served for any client until Ctrl-C, which ends it in order',
  async () => {
    const served = spawn(process.execPath, [PROGRAM, 'policy', 'serve', '--base', 'one.base', '--port', '0'], { cwd })
    child = served
    const [line]: string[] = await once(createInterface(served.stdout), 'line')
    const url = /^TROUPE_POLICY_URL=(http:\/\/127\.0\.0\.1:\d+)$/.exec(line ?? '')?.[1] ?? ''
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'policy', messages: [{ role: 'user', content: 'yes?' }], max_tokens: 2 }),
    })
    assert.is(response.status, 200, await response.text())
    const { stdout } = await troupe(['models', 'show', 'policy', '--url', url])
    assert.match(stdout, 'serves its base')
    const ended = once(served, 'exit')
    served.kill('SIGINT')
    assert.equal(await ended, [0, null])
  },
  { deadlineMs: 60_000 },
)

test.run()
