import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { journalBusy } from '../../src/journal/errors.ts'
import { whoHasOpen } from '../../src/journal/who-has-open.ts'
import { suite } from '../support/suite.ts'
import { withFiles } from '../support/temporary-directory.ts'

const test = suite('who has a file open')

test('other processes are named as long as they have it, and this one never', () =>
  withFiles({ 'gate.lock': '', other: '' }, async directory => {
    const [file, other] = [join(directory, 'gate.lock'), join(directory, 'other')]
    const own = openSync(file, 'r')
    const holder = spawn('/bin/sh', ['-c', 'exec 3<"$1"; echo; read -r line', 'hold', file])
    await once(holder.stdout, 'data')
    assert.equal([whoHasOpen(file), whoHasOpen(other)], [[holder.pid], []])
    holder.stdin.end()
    await once(holder, 'close')
    assert.equal(whoHasOpen(file), [])
    closeSync(own)
  }))

test('a journal that is busy is told with them', () => {
  const told = (...pids: number[]) => journalBusy('/j', 30_000, pids).message
  assert.match(told(7), ': process 7 has been in the middle of that for 30 s')
  assert.match(told(7, 8), ': one of the processes 7, 8 has been')
  assert.match(told(), 'fuser /j/gate.lock')
})

test.run()
