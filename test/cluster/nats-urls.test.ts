import * as assert from 'uvu/assert'
import { parseNatsUrls } from '../../src/cluster/nats-urls.ts'
import { assertRejects } from '../support/assert-rejects.ts'
import { suite } from '../support/suite.ts'

const test = suite('addresses of NATS servers')
const refused = (text: string, tag: string) => assertRejects(Promise.resolve(text).then(parseNatsUrls), tag)

test('one, several with commas, or a list; the port may be left out', () => {
  assert.equal(parseNatsUrls('nats://127.0.0.1:4333'), { servers: ['127.0.0.1:4333'], mustBeTls: false })
  assert.equal(parseNatsUrls(' nats://a.example:1, NATS://b,').servers, ['a.example:1', 'b:4222'])
  assert.equal(parseNatsUrls(['nats://a:80', 'nats://[::1]:4223/']).servers, ['a:80', '[::1]:4223'])
})

test('one tls:// among them is enough for all', () => {
  assert.equal(parseNatsUrls('nats://a,tls://b'), { servers: ['a:4222', 'b:4222'], mustBeTls: true })
})

test('what is no address says why, and one with a secret in it is not repeated', async () => {
  for (const text of [
    '',
    'a:4222',
    'http://a:4222',
    'ws://a',
    'nats://',
    'nats://a:99999',
    'nats://a/b',
    'nats://a?b=c',
  ])
    await refused(text, 'bad-nats-url')
  for (const text of ['nats://me:planted-secret@a:4222', 'nats://planted-secret@a', 'nats://b,me:planted-secret@a']) {
    const { message } = await refused(text, 'secret-in-nats-url')
    assert.not.match(message, 'planted-secret')
  }
})

test.run()
