/** A cluster that has just lost a server, as whoever begins there finds it. */
import { JetStreamApiError } from '@nats-io/jetstream'
import { errors, type NatsConnection } from '@nats-io/transport-node'
import * as assert from 'uvu/assert'
import { untilAnswered } from '../../src/cluster/until-answered.ts'
import { assertRejects } from '../support/assert-rejects.ts'
import { suite } from '../support/suite.ts'
import { VirtualClock } from '../support/virtual-clock.ts'

const test = suite('until JetStream answers')

const CONNECTION = { getServer: () => 'nats-1:4222' } as NatsConnection

function unavailable(status: number): JetStreamApiError {
  return new JetStreamApiError({ code: status, err_code: 10_008, description: 'system temporarily unavailable' })
}

test('what is not answered is asked again, and its answer is what comes of it', async () => {
  const clock = new VirtualClock()
  const failures = [new errors.TimeoutError(), unavailable(503), new errors.TimeoutError()]
  const asked = untilAnswered(CONNECTION, clock, async () => {
    const failure = failures.shift()
    if (failure !== undefined) throw failure
    return 'made'
  })
  await clock.advance(1_000)
  assert.is(await asked, 'made')
})

test('one that never answers is given up after 45 s, and told by name', async () => {
  const clock = new VirtualClock()
  const asked = assertRejects(
    untilAnswered(CONNECTION, clock, () => Promise.reject(new errors.TimeoutError())),
    'jetstream-silent',
    /nats-1:4222 within 45 s.*start the others/,
  )
  await clock.advance(46_000)
  await asked
})

test('what is refused is not asked again', async () => {
  let times = 0
  const refused = unavailable(400)
  const asked = untilAnswered(CONNECTION, new VirtualClock(), () => {
    times += 1
    return Promise.reject(refused)
  })
  assert.is(await asked.catch(error => error), refused)
  assert.is(times, 1)
})

test.run()
