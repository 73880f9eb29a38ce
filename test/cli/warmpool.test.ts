import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import * as assert from 'uvu/assert'
import { readReceipt } from '../../src/receipts/index.ts'
import { fromPoolReceipt } from '../../src/warmpool/receipt.ts'
import { resultOf, troupe } from '../support/cli.ts'
import { suite } from '../support/suite.ts'
import { withFiles } from '../support/temporary-directory.ts'

const test = suite('troupe warmpool')

const ARITH = resolve('environments/arith')
const SMALL = ['--width', '4', '--repetitions', '1']

test('on this machine it prints words and tables, and the receipt holds all of it', () =>
  withFiles({}, async directory => {
    const { exitCode, stdout, stderr } = await troupe(
      ['warmpool', ARITH, ...SMALL, '--batches', '2', '--runtime', 'local'],
      { cwd: directory },
    )
    assert.is(exitCode, 0, stderr)
    assert.match(stdout, /^A pool of 4 took [\d.]+ m?s to fill, and was full again .*(before|after) a batch of 4/)
    assert.match(stdout, /A second batch right behind the first found \d of 4 ready/)
    assert.match(stderr, /^cold, repetition 1: 4 ok, 0 failed/m)
    assert.match(stderr, /^5\/5 levels, [\d.]+\/s, 0 failed$/m)
    const [csv, svg, html] = ['csv', 'svg', 'html'].map(end => join(directory, 'warmpool', `warmpool.${end}`))
    const receipt = readReceipt(readFileSync(csv ?? '', 'utf8'), 'warmpool.csv')
    assert.is(receipt.about.complete, 'true')
    assert.match(receipt.about.command ?? '', /^troupe warmpool .* --width 4 --size 4 --source prewarm --batches 2/)
    const { levels, moments } = fromPoolReceipt(receipt, 'warmpool', 'warmpool.csv')
    assert.equal(
      levels.map(({ phase }) => phase),
      ['cold', 'warm', 'drain', 'batch', 'batch'],
    )
    assert.ok(levels.every(({ ok, failed, leaked }) => ok === 4 && failed === 0 && leaked === 0))
    assert.is(levels[1]?.hit_rate, 1)
    assert.ok(moments.some(({ during, ready }) => during === 'fill' && ready === 4))
    assert.match(readFileSync(svg ?? '', 'utf8'), /^<svg role="img"/)
    assert.match(readFileSync(html ?? '', 'utf8'), /^<!doctype html>/)

    const again = await troupe(['warmpool', '--receipt', 'warmpool/warmpool.csv', '--out', 'again'], { cwd: directory })
    assert.equal([again.exitCode, again.stdout], [0, stdout], again.stderr)
    assert.is(
      readFileSync(join(directory, 'again', 'warmpool.svg'), 'utf8'),
      readFileSync(svg ?? '', 'utf8'),
      'drawn from the receipt alone',
    )
    const told = ['warmpool', '--receipt', 'warmpool/warmpool.csv', '--out', 'again', '--json', '--quiet']
    const program = await troupe(told, { cwd: directory })
    assert.equal(
      [program.exitCode, program.stderr],
      [0, 'written: again/warmpool.svg, again/warmpool.html\n'],
      'a receipt of another place is not written anew',
    )
    assert.equal(resultOf(program.stdout).levels, levels)
  }))

test(
  'an emulated provider’s pool is claimed from, and really counted',
  () =>
    withFiles({}, async directory => {
      const { exitCode, stdout, stderr } = await troupe(
        ['warmpool', ...SMALL, '--batches', '1', '--emulator', '--speed', '50', '--source', 'provider-pool'],
        { cwd: directory },
      )
      assert.is(exitCode, 0, stderr)
      assert.match(stdout, /unclaimed at the provider/)
      const text = readFileSync(join(directory, 'warmpool', 'warmpool.csv'), 'utf8')
      const { levels, moments } = fromPoolReceipt(readReceipt(text, 'a.csv'), 'warmpool', 'a.csv')
      const warm = levels.find(({ phase }) => phase === 'warm')
      assert.equal([warm?.claims, warm?.hit_rate, warm?.held_ready, warm?.leaked], [4, 1, 4, 0])
      assert.ok((warm?.fill_s ?? 0) > 0)
      const counted = moments.flatMap(({ during, provider_ready }) => (during === 'fill' ? (provider_ready ?? []) : []))
      assert.equal([counted[0], counted.at(-1)], [0, 4])
    }),
  { deadlineMs: 90_000 },
)

for (const [argv, says] of [
  [['--width', '0'], /--width.*'0' is invalid\. Write a whole number from 1 up/],
  [['--source', 'tepid'], /--source.*Allowed choices are prewarm, provider-pool/],
  [['--source', 'provider-pool', '--runtime', 'local'], /the local runtime cannot do provider-pool.*--source prewarm/],
  [['--receipt', 'none.csv'], /none\.csv cannot be read: there is no such file/],
] as const)
  test(`bad input is refused before anything is made: ${argv.join(' ')}`, () =>
    withFiles({}, async directory => {
      const { exitCode, stdout, stderr } = await troupe(['warmpool', ...argv], { cwd: directory })
      assert.equal([exitCode, stdout], [2, ''], stderr)
      assert.match(stderr, says)
      assert.not(existsSync(join(directory, 'warmpool')))
    }))

test.run()
