/** Progress as a person sees it: on a real pseudo-terminal, by the built CLI. */
import * as assert from 'uvu/assert'
import { type Scene, withScene } from '../../end-to-end/scene.ts'
import { program } from '../../support/cli.ts'
import { suite } from '../../support/suite.ts'
import { isRestored, openTerminal, type TestTerminal } from '../../support/terminal.ts'

const test = suite('progress on a terminal')
const SLOW = { deadlineMs: 180_000 }

/** Two of three agents answer, one waits for `scene.go()`. */
async function withEval(
  body: (terminal: TestTerminal, scene: Scene) => Promise<void>,
  variables: Readonly<Record<string, string>> = {},
): Promise<void> {
  await withScene(async scene => {
    const argv = scene.notes({ hold: [2] }).filter(word => word !== '--json')
    const terminal = openTerminal([program, ...argv], {
      cwd: scene.directory,
      columns: 100,
      variables: { TMPDIR: scene.temporary, ...variables },
    })
    try {
      await body(terminal, scene)
    } finally {
      await terminal.close()
    }
    assert.equal(scene.leftovers(), [])
  })
}

const barsOf = (screen: readonly string[]) => screen.filter(line => /░|█/.test(line))

test(
  'a bar redraws itself in one line, follows the terminal when it is made narrower, and leaves its figures behind',
  () =>
    withEval(async (terminal, scene) => {
      await terminal.until(screen => barsOf(screen).some(line => /2\/3 runs.*100\.0 % passed, 1 in flight/.test(line)))
      assert.is(barsOf(terminal.screen()).length, 1)
      terminal.resize(50, 24)
      await terminal.until(screen => barsOf(screen).some(line => line.length < 50 && line.includes('2/3 runs')))
      assert.is(barsOf(terminal.screen()).length, 1)
      terminal.resize(24, 24)
      await terminal.until(screen => screen.some(line => /^2\/3 runs/.test(line)))
      terminal.resize(100, 24)
      await terminal.until(screen => barsOf(screen).some(line => line.includes('% passed')))
      scene.go()
      assert.is(await terminal.ended, 0)
      assert.ok(terminal.all().some(line => /█{20} 3\/3 runs/.test(line)))
      assert.ok(terminal.all().some(line => /3 of 3 runs graded/.test(line)))
      assert.ok(isRestored(terminal.raw()))
    }),
  SLOW,
)

test(
  'what is said meanwhile stands above the bar; Ctrl-C ends in order and gives the cursor back',
  () =>
    withEval(async terminal => {
      await terminal.until(screen => barsOf(screen).some(line => line.includes('2/3 runs')))
      assert.not(isRestored(terminal.raw()), 'there is no cursor in a bar')
      terminal.press('\u0003')
      assert.is(await terminal.ended, 130)
      assert.ok(terminal.all().includes('ending in order; press Ctrl-C again to end at once'))
      assert.ok(isRestored(terminal.raw()))
    }),
  SLOW,
)

test(
  'whoever is in a hurry gets the cursor back, too',
  () =>
    withEval(async terminal => {
      await terminal.until(screen => barsOf(screen).some(line => line.includes('2/3 runs')))
      terminal.press('\u0003')
      await terminal.until(screen => screen.some(line => line.includes('press Ctrl-C again')))
      terminal.signal('SIGTERM')
      assert.is(await terminal.ended, 130)
      assert.ok(isRestored(terminal.raw()))
    }),
  SLOW,
)

test(
  'a terminal that can do nothing gets plain lines',
  () =>
    withEval(
      async (terminal, scene) => {
        await terminal.until(screen => screen.some(line => /^2\/3 runs, /.test(line)))
        scene.go()
        assert.is(await terminal.ended, 0)
        assert.not.ok(terminal.raw().includes('\u001b'))
      },
      { TERM: 'dumb', NO_COLOR: '1' },
    ),
  SLOW,
)

test.run()
