import * as assert from 'uvu/assert'
import { fromErrorData, TroupeError, toErrorData } from '../src/errors.ts'
import { suite } from './support/suite.ts'

const test = suite('errors')

test('an error keeps its tag, address, details and causes across a thread', () => {
  const inner = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })
  const error = new TroupeError(
    { tag: 'host-lost', message: 'gone', address: 'h:1', details: { exit: 9 }, transient: true },
    inner,
  )
  const copy = fromErrorData(JSON.parse(JSON.stringify(toErrorData(error))))
  assert.equal(copy.data, { ...error.data, cause: { tag: 'econnrefused', message: 'refused' } })
})

test('a thrown value that is no error still becomes data', () => {
  assert.equal(toErrorData('no'), { tag: 'unexpected', message: 'no' })
})

test.run()
