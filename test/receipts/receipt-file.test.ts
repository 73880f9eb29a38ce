import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { hasTag } from '../../src/errors.ts'
import { type Receipt, readReceiptFile, writeReceipt } from '../../src/receipts/index.ts'
import { suite } from '../support/suite.ts'

const test = suite('receipts: files')

const RECEIPT: Receipt = { kind: 'bench', about: { seed: '1' }, columns: ['a'], rows: [{ a: '1' }] }

let directory: string
test.beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'troupe-receipts-'))
})
test.afterEach(() => rm(directory, { recursive: true, force: true }))

test('a receipt is replaced in one move, in a directory that is made for it', async () => {
  const path = join(directory, 'of', 'receipts', 'a.csv')
  await writeReceipt(path, RECEIPT)
  await writeReceipt(path, { ...RECEIPT, rows: [{ a: '2' }] })
  assert.equal((await readReceiptFile(path)).rows, [{ a: '2' }])
  assert.equal(await readdir(join(directory, 'of', 'receipts')), ['a.csv'])
})

test('what cannot be written leaves no half of it, and the file as it was', async () => {
  await writeFile(join(directory, 'file'), 'as it was')
  await mkdir(join(directory, 'a.csv', 'inner'), { recursive: true })
  for (const path of [join(directory, 'file', 'a.csv'), join(directory, 'a.csv')])
    await writeReceipt(path, RECEIPT).then(
      () => assert.unreachable(),
      error => assert.ok(hasTag(error, 'receipt-not-written') && error.message.startsWith(path), error),
    )
  assert.equal((await readdir(directory)).sort(), ['a.csv', 'file'])
  assert.is(await readFile(join(directory, 'file'), 'utf8'), 'as it was')
})

test('a file that cannot be read is refused by its name', async () => {
  for (const [path, why] of [
    [join(directory, 'nowhere.csv'), 'there is no such file'],
    [directory, 'it is a directory'],
  ] as const)
    await readReceiptFile(path).then(
      () => assert.unreachable(),
      error =>
        assert.ok(
          hasTag(error, 'receipt-unreadable') && error.message.startsWith(`${path} cannot be read: ${why}. `),
          error,
        ),
    )
})

test('bytes that are no text are refused as foreign', async () => {
  const path = join(directory, 'a.csv')
  await writeFile(path, Buffer.from([0x89, 0x50, 0x4e, 0x47, 0xff, 0xfe]))
  await readReceiptFile(path).then(
    () => assert.unreachable(),
    error => assert.ok(hasTag(error, 'receipt-foreign')),
  )
})

test.run()
