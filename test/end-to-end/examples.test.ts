import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { needTime } from '../support/need-time.ts'
import { suite } from '../support/suite.ts'
import { repository, withScene } from './scene.ts'

const test = suite('the examples')

// Each of them is a program of its own, and two of them train.
needTime(600_000)

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
runs('notebook', [], /32 of 32 runs graded/)
runs('serve-events', [], /(event: group\ndata: \{"slug":"add-[0-9a-f]{8}","rewards":\[1,1,1,1\]\}\n\n){4}event: end/)
runs(
  'fastify-route',
  [],
  /\{"rewards":\[1,1,1,1\]\}\ngone\nthe client left|\{"rewards":\[1,1,1,1\]\}\nthe client left[^\n]*\ngone/,
)
runs('queue-worker', [], /a: 16 of 16 graded, mean reward 1\nb: 4 of 4 graded, mean reward 1\ndone: a\.done b\.done/)
runs('two-engines', [], /whole: 64 of 64 runs graded, 64 seen on the channel\nstopped: early/)
runs('http-trainer', [], /step 0: [1-6]\d of 128 solved\n(.*\n){3}step 4: 1[12]\d of 128 solved/)
runs(
  'python-queue/main',
  [],
  /round 1: \d+ of 128 solved.*\n(.*\n)*round 5: 1[12]\d of 128 solved.*\n(.*\n)*80 groups trained on, 80 handed out/,
)
runs('calc-rl', ['1'], /step 0: \d+ of 128 solved/)
runs('calc-rl-streaming', ['1'], /step 0: \d+ of 128 solved/)

test.run()
