import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { readReceipt } from '../../src/receipts/index.ts'
import { fromPoolReceipt } from '../../src/warmpool/receipt.ts'
import { troupe } from '../support/cli.ts'
import { suite } from '../support/suite.ts'
import { withFiles } from '../support/temporary-directory.ts'

const test = suite('troupe fork-bench')

test(
  'on an emulated provider it says which number of parents did best, and keeps what it measured',
  () =>
    withFiles({}, async directory => {
      const { exitCode, stdout, stderr } = await troupe(
        ['fork-bench', '--width', '4', '--repetitions', '1', '--batches', '2', '--emulator', '--speed', '50'],
        { cwd: directory },
      )
      assert.is(exitCode, 0, stderr)
      assert.match(stdout, /^At 4 wide, (1 parent|4 parents) did best/)
      const text = readFileSync(join(directory, 'fork-bench', 'fork-bench.csv'), 'utf8')
      const { levels, moments } = fromPoolReceipt(readReceipt(text, 'a.csv'), 'fork-bench', 'a.csv')
      assert.equal(
        levels.map(({ phase, parents, leaked }) => [phase, parents, leaked]),
        [
          ['cold', undefined, 0],
          ...[1, 4].flatMap(parents => [
            ['fork', parents, 0],
            ['batch', parents, 0],
            ['batch', parents, 0],
          ]),
        ],
      )
      const forked = levels.filter(({ phase }) => phase === 'fork')
      assert.ok(forked.every(({ ok, forks = 0, fill_s = 0 }) => ok === 4 && forks > 0 && fill_s > 0))
      assert.ok(moments.some(({ parents, held_parents }) => parents === 4 && held_parents === 4))
      assert.ok(existsSync(join(directory, 'fork-bench', 'fork-bench.svg')))
      assert.ok(existsSync(join(directory, 'fork-bench', 'fork-bench.html')))
    }),
  { deadlineMs: 90_000 },
)

for (const [argv, says] of [
  [['--runtime', 'local'], /the local runtime cannot do fork: it has nothing to fork.*--runtime daytona/],
  [['--parents', '1,none'], /--parents.*Write one or several whole numbers from 1 up/],
  [['--emulator', '--width', '4', '--parents', '8'], /--parents 8 is more than --width 4/],
  [['--speed', '5'], /--emulator is missing/],
] as const)
  test(`bad input is refused before anything is made: ${argv.join(' ')}`, () =>
    withFiles({}, async directory => {
      const { exitCode, stdout, stderr } = await troupe(['fork-bench', ...argv], { cwd: directory })
      assert.equal([exitCode, stdout], [2, ''], stderr)
      assert.match(stderr, says)
      assert.not(existsSync(join(directory, 'fork-bench')))
    }))

test.run()
