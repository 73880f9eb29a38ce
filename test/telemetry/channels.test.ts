import { once } from 'node:events'
import * as assert from 'uvu/assert'
import { warn } from '../../src/environment/warn.ts'
import { toJobId } from '../../src/ids.ts'
import { publish } from '../../src/telemetry/channels.ts'
import { observed } from '../../src/telemetry/observed.ts'
import { suite } from '../support/suite.ts'
import { listening } from './scene.ts'

const test = suite('channels')
const jobId = toJobId('job-00000001')

test('an actor that failed and a dead letter name the job that they belong to', () =>
  listening(({ errors }) => {
    const { onFailure, onDeadLetter } = observed(jobId)
    onFailure?.({ address: 'main/pool', error: { tag: 'broken', message: 'it broke' }, directive: 'restart' })
    onDeadLetter?.({ address: 'main/gone', reason: 'stopped', message: undefined })
    assert.equal(
      errors.map(({ name, error }) => [name, error.tag, error.address, error.details]),
      [
        ['actor', 'actor-failed', 'main/pool', { jobId }],
        ['deadLetter', 'dead-letter', 'main/gone', { jobId }],
      ],
    )
  }))

test('what nobody asked to be told of an environment is a warning only where nobody listens', async () => {
  const error = { tag: 'teardown-failed', message: 'the teardown failed' }
  const warned: Error[] = []
  const note = (warning: Error) => void warned.push(warning)
  process.on('warning', note)
  try {
    await listening(({ errors }) => {
      warn(error)
      assert.equal(
        errors.map(each => each.error),
        [error],
      )
    })
    const next = once(process, 'warning')
    warn({ ...error, message: 'another one' })
    await next
    assert.equal(
      warned.map(({ message }) => message),
      ['another one'],
    )
  } finally {
    process.off('warning', note)
  }
})

test('publishing says whether anybody listened', async () => {
  const error = { tag: 'x', message: 'x' }
  assert.is(publish('sandbox', error), false)
  await listening(() => assert.is(publish('sandbox', error), true))
})

test.run()
