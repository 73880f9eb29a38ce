import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { readReceipt } from '../../src/receipts/index.ts'
import { fromPoolReceipt } from '../../src/warmpool/receipt.ts'
import { suite } from '../support/suite.ts'
import { withFiles } from '../support/temporary-directory.ts'

const test = suite('troupe warmpool, interrupted')

const PROGRAM = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url))

/** Interrupts the command as soon as it tells of its first level; resolves with its exit status. */
function interruptAfterFirst(argv: readonly string[], cwd: string): Promise<number | null> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [PROGRAM, ...argv], { cwd, stdio: ['ignore', 'ignore', 'pipe'] })
    const lines = createInterface(child.stderr)
    const hear = (line: string) => {
      // Not a line of progress, which comes whatever is done.
      if (!line.includes(' ok, ')) return
      lines.off('line', hear)
      child.kill('SIGINT')
    }
    lines.on('line', hear)
    child.on('error', reject)
    child.on('close', resolve)
  })
}

test('the levels that are done are kept, and marked', () =>
  withFiles({}, async directory => {
    const argv = ['warmpool', '--width', '2', '--repetitions', '50', '--runtime', 'local', '--out', 'kept']
    assert.is(await interruptAfterFirst(argv, directory), 130)
    const receipt = readReceipt(readFileSync(join(directory, 'kept', 'warmpool.csv'), 'utf8'), 'a.csv')
    assert.match(receipt.about.complete ?? '', /^false: interrupted/)
    const { levels } = fromPoolReceipt(receipt, 'warmpool', 'a.csv')
    assert.is(levels[0]?.phase, 'cold')
    assert.ok(levels.length < 300)
    assert.match(readFileSync(join(directory, 'kept', 'warmpool.html'), 'utf8'), /false: interrupted/)
  }))

test.run()
