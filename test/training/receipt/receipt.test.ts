import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { hasTag } from '../../../src/errors.ts'
import { PUBLISHED, publishedSteps } from '../../../src/training/receipt/published.ts'
import { makeReceipt } from '../../../src/training/receipt/receipt.ts'
import { formatReceipt, parseReceipt, readReceipt, writeWhole } from '../../../src/training/receipt/receipt-file.ts'
import { writeReceipt } from '../../../src/training/receipt/write-receipt.ts'
import { suite } from '../../support/suite.ts'
import { evaluationRecord, HEAD, stepRecord } from './records.ts'

const test = suite('training receipt')
let directory = ''
test.beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'troupe-receipt-'))
})
test.afterEach(() => rm(directory, { recursive: true, force: true }))

const steps = [stepRecord(0), stepRecord(1)]
const evaluations = [evaluationRecord(0, 'held-out', 184)]

test('each step begins with the published columns, in their order and nothing between', () => {
  const receipt = makeReceipt(HEAD, { steps, evaluations })
  const published =
    'step,runs,solved,pass_rate,errored,group_spread,samples,tokens,rollout_s,loss,datums,chunks,train_s,optim_step'
  assert.is(receipt.columns.join(), published)
  for (const step of receipt.steps) assert.is(Object.keys(step).slice(0, receipt.columns.length).join(), published)
  const written: unknown = JSON.parse(formatReceipt(receipt))
  assert.equal(written, receipt)
})

test('milliseconds become seconds, shares keep four digits, and what was skipped has its reason', () => {
  const skipped = stepRecord(1, { end: { type: 'skipped', reason: 'no-spread' }, loss: null, optimStep: null })
  const { steps: rows } = makeReceipt(HEAD, { steps: [stepRecord(0), skipped], evaluations })
  const [trained, second] = rows
  assert.equal(
    [trained?.pass_rate, trained?.group_spread, trained?.rollout_s, trained?.loss, trained?.train_s, trained?.wall_s],
    [0.4453, 0.4276, 18.25, -4792.0817, 9.1, 27.4],
  )
  assert.equal([trained?.status, trained?.reason, trained?.checkpoint_id], ['trained', null, 'ckpt-1'])
  assert.equal([second?.status, second?.reason, second?.loss, second?.optim_step], ['skipped', 'no-spread', null, null])
})

test('what was written is read again as it was', async () => {
  const { receipt, receiptPath } = await writeReceipt(directory, HEAD, { steps, evaluations })
  assert.equal(await readReceipt(receiptPath), receipt)
})

test('a training that goes on appends: nothing is there twice, and the order is that of the steps', async () => {
  await writeReceipt(directory, HEAD, { steps: steps.slice(0, 1), evaluations })
  // The journal hands an earlier process's records over again, beside those of this one.
  const all = {
    steps: [stepRecord(1), stepRecord(0), stepRecord(1, { solved: 60 }), stepRecord(2)],
    evaluations: [
      ...evaluations,
      ...evaluations,
      evaluationRecord(3, 'held-out', 416),
      evaluationRecord(3, 'unseen', 90),
    ],
  }
  const { receiptPath } = await writeReceipt(directory, HEAD, all)
  const receipt = await readReceipt(receiptPath)
  assert.equal(
    receipt.steps.map(row => [row.step, row.solved]),
    [
      [0, 57],
      [1, 60],
      [2, 57],
    ],
  )
  assert.equal(
    receipt.evaluations.map(row => [row.after_steps, row.split]),
    [
      [0, 'held-out'],
      [3, 'held-out'],
      [3, 'unseen'],
    ],
  )
})

test('a write that fails leaves the earlier file whole, and says what to do', async () => {
  const path = join(directory, 'train_run.json')
  await writeWhole(path, 'first')
  await mkdir(`${path}.${process.pid}.half`)
  try {
    await writeWhole(path, 'second')
    assert.unreachable()
  } catch (error) {
    assert.ok(hasTag(error, 'receipt-not-written'))
  }
  assert.is(await readFile(path, 'utf8'), 'first')
})

test('a reader never sees a part: the file is replaced in one move', async () => {
  const path = join(directory, 'new', 'train_run.json')
  for (let count = 0; count < 3; count++)
    await writeWhole(path, formatReceipt(makeReceipt(HEAD, { steps, evaluations })))
  assert.equal(await readdir(join(directory, 'new')), ['train_run.json'])
})

test('a file that is no receipt is named with what it lacks', async () => {
  const path = join(directory, 'other.json')
  await writeFile(path, '{"name": "calc", "steps": []}')
  try {
    await readReceipt(path)
    assert.unreachable()
  } catch (error) {
    assert.ok(hasTag(error, 'not-a-receipt'))
    assert.match(error.message, path)
    assert.match(error.message, 'model:')
  }
  assert.throws(() => parseReceipt('x', '{'), /it is not JSON/)
})

test('the published rows agree with themselves', () => {
  const rows = publishedSteps()
  assert.is(rows.length, 10)
  for (const row of rows) {
    assert.equal(Object.keys(row), [...PUBLISHED.columns])
    assert.is(Math.round((row.solved / row.runs) * 1e4) / 1e4, row.pass_rate)
    assert.is(row.optim_step, row.step + 1)
  }
})

test.run()
