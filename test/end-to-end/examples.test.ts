import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { suite } from '../support/suite.ts'
import { repository, withScene } from './scene.ts'

const test = suite('the examples')

/** Runs one as a person would, and looks at what it printed; its process must end by itself and leave nothing. */
const runs = (name: string, args: readonly string[], expected: RegExp) =>
  test(
    `${name} does what it says, and its process ends by itself with nothing left`,
    () =>
      withScene(async scene => {
        const file = fileURLToPath(new URL(`../../examples/${name}.js`, import.meta.url))
        const child = spawn(process.execPath, [file, ...args], {
          cwd: repository,
          env: { ...process.env, TMPDIR: scene.temporary },
          stdio: ['ignore', 'pipe', 'inherit'],
        })
        let stdout = ''
        child.stdout.setEncoding('utf8').on('data', (text: string) => {
          stdout += text
        })
        assert.equal(await once(child, 'close'), [0, null], stdout)
        assert.match(stdout, expected)
        assert.equal(scene.leftovers(), [])
      }),
    // 128 rollouts, each graded by pytest in a sandbox.
    { deadlineMs: 180_000 },
  )

runs('embed', [], /80 of 80 runs graded/)
runs('calc-rl', ['1'], /step 0: \d+ of 128 solved/)
runs('calc-rl-streaming', ['1'], /step 0: \d+ of 128 solved/)

test.run()
