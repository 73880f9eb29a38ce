import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { suite } from '../support/suite.ts'
import { repository, withScene } from './scene.ts'

const test = suite('the embedding example')
const example = fileURLToPath(new URL('../../examples/embed.js', import.meta.url))

test('it does what it says, and its process ends by itself with nothing left', () =>
  withScene(async scene => {
    const child = spawn(process.execPath, [example], {
      cwd: repository,
      env: { ...process.env, TMPDIR: scene.temporary },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let stdout = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text
    })
    assert.equal(await once(child, 'close'), [0, null], stdout)
    assert.match(stdout, /80 of 80 runs graded/)
    assert.equal(scene.leftovers(), [])
  }))

test.run()
