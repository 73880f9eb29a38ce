import * as assert from 'uvu/assert'
import { toAdded } from '../../../bench/ladder/added.ts'
import { makeSample } from '../../ladder/scene.ts'
import { suite } from '../../support/suite.ts'

const test = suite('time added to the emulator')

/** Asked for at 1,000 and usable after 280: 20 before the create, 200 in four steps, 25 between them, 35 after the boot. */
const cold = {
  name: 'troupe-one',
  floorMs: 200,
  steps: [
    { operation: 'accept', startMs: 1_020, endMs: 1_030 },
    { operation: 'create', startMs: 1_020, endMs: 1_120 },
    { operation: 'session', startMs: 1_125, endMs: 1_145 },
    { operation: 'sshAccess', startMs: 1_125, endMs: 1_190 },
    { operation: 'exec', startMs: 1_155, endMs: 1_175 },
    { operation: 'boot', startMs: 1_185, endMs: 1_245 },
  ],
}

test('what a client takes beyond the emulator is split by where it took it', () => {
  assert.equal(toAdded([makeSample(280)], [cold]), [{ totalMs: 80, beforeMs: 20, afterMs: 35, betweenMs: 25 }])
})

test('a fork is on its way through fork and resume alone', () => {
  const steps = [
    { operation: 'fork', startMs: 1_010, endMs: 1_110 },
    { operation: 'resume', startMs: 1_110, endMs: 1_210 },
  ]
  const added = toAdded([makeSample(215, { kind: 'fork' })], [{ name: 'troupe-one', floorMs: 200, steps }])
  assert.equal(added, [{ totalMs: 15, beforeMs: 10, afterMs: 5, betweenMs: 0 }])
})

test('what was ready beforehand, is unknown, or never came up has none', () => {
  assert.equal(toAdded([makeSample(5, { kind: 'hit' })], [cold]), [])
  assert.equal(toAdded([makeSample(280, { sandbox: 'other' })], [cold]), [])
  assert.equal(toAdded([makeSample(280)], [{ ...cold, floorMs: null }]), [])
})

test.run()
