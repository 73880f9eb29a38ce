/** What is read without an engine: ignore rules, log frames, progress, addresses. */
import fc from 'fast-check'
import * as assert from 'uvu/assert'
import { toOwnerWord } from '../../../src/owner.ts'
import { makeOutput } from '../../../src/runtimes/docker/container/output.ts'
import { readEngineAddress } from '../../../src/runtimes/docker/engine/address.ts'
import { readProgress } from '../../../src/runtimes/docker/engine/progress.ts'
import { parseIgnore } from '../../../src/runtimes/docker/image/ignore.ts'
import { judgeLabels } from '../../../src/runtimes/docker/labels.ts'
import { suite } from '../../support/suite.ts'
import { failure } from '../../wire/support/failure.ts'

const test = suite('docker readers')

test('ignore rules: the last that matches a path or a folder above it decides', () => {
  const cases: readonly [rules: string, path: string, ignored: boolean][] = [
    ['', 'a', false],
    ['# a', 'a', false],
    ['a', 'a', true],
    ['/a/', 'a/b/c', true],
    ['a', 'b/a', false],
    ['**/a', 'b/a', true],
    ['**/a', 'a', true],
    ['a/**', 'a/b/c', true],
    ['*.log', 'x.log', true],
    ['*.log', 'd/x.log', false],
    ['**/*.log', 'd/e/x.log', true],
    ['?.ts', 'a.ts', true],
    ['?.ts', 'ab.ts', false],
    ['[ab].ts', 'b.ts', true],
    ['a.b', 'axb', false],
    ['*\n!src', 'src/x.ts', false],
    ['*\n!src\nsrc/gen', 'src/gen/x.ts', true],
    ['!a\na', 'a', true],
    ['node_modules', 'node_modules/x/y.js', true],
    ['a+(b)', 'a+(b)', true],
    [String.raw`\!a`, '!a', true],
    ['.', 'a', false],
  ]
  for (const [rules, path, ignored] of cases)
    assert.is(parseIgnore(rules).ignores(path), ignored, `${JSON.stringify(rules)} for ${path}`)
  assert.equal([parseIgnore('a').hasExceptions, parseIgnore('a\n!b').hasExceptions], [false, true])
})

const frame = (stream: number, text: string) => {
  const body = Buffer.from(text)
  const header = Buffer.from([stream, 0, 0, 0, 0, 0, 0, 0])
  header.writeUInt32BE(body.length, 4)
  return Buffer.concat([header, body])
}

test('log frames are read however they are cut', () => {
  const cut = fc.property(
    fc.array(fc.tuple(fc.constantFrom(1, 2), fc.string({ unit: 'grapheme', maxLength: 40 })), { maxLength: 8 }),
    fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 40 }),
    (frames, sizes) => {
      const whole = Buffer.concat(frames.map(([stream, text]) => frame(stream, text)))
      const output = makeOutput()
      let at = 0
      for (let turn = 0; at < whole.length; turn += 1) {
        const size = sizes[turn % sizes.length] ?? 1
        output.write(whole.subarray(at, at + size))
        at += size
      }
      assert.is(
        output.tail(),
        frames
          .map(([, text]) => text)
          .join('')
          .trimEnd(),
      )
    },
  )
  fc.assert(cut, { numRuns: 200 })
})

test('only the end of a log is kept, and no secret in it is shown', () => {
  const output = makeOutput()
  for (let line = 0; line < 5_000; line += 1) output.write(frame(1, `line ${line} ${'x'.repeat(50)}\n`))
  output.write(frame(2, 'Authorization: Bearer abcdefghijklmnop\n'))
  const lines = output.tail().split('\n')
  assert.is(lines.length, 40)
  assert.match(lines[38] ?? '', /^line 4999 /)
  assert.is(lines[39], 'Authorization: Bearer [hidden]')
})

test('a log that broke off within a frame is read anew from its next stream', () => {
  const output = makeOutput()
  output.write(frame(1, 'first\nlost').subarray(0, 14))
  output.restart()
  output.write(frame(1, 'second\n'))
  assert.is(output.tail(), 'first\nsecond')
})

test('progress is read however it is cut, and what is no message is told as it is', async () => {
  const text = '{"stream":"Step 1\\n"}\r\n\nnonsense\n{"aux":{"ID":"sha256:é"}}\n{"error":"no","errorDetail":{}}'
  const bytes = Buffer.from(text)
  async function* pieces() {
    for (let at = 0; at < bytes.length; at += 3) yield bytes.subarray(at, at + 3)
  }
  const told = []
  for await (const message of readProgress(pieces())) told.push(message)
  assert.equal(told, [
    { text: 'Step 1\n', error: undefined, imageId: undefined },
    { text: 'nonsense', error: undefined, imageId: undefined },
    { text: '', error: undefined, imageId: 'sha256:é' },
    { text: '', error: 'no', imageId: undefined },
  ])
})

test('the engine is where the option says, else DOCKER_HOST, else at the default socket', () => {
  const { text, origin, at, isHere } = readEngineAddress(undefined, {})
  assert.equal([text, origin, isHere], ['unix:///var/run/docker.sock', 'default', true])
  assert.equal(at, { kind: 'unix', path: '/var/run/docker.sock' })
  const told = readEngineAddress(undefined, { DOCKER_HOST: 'unix:///run/user/1000/docker.sock' })
  assert.equal([told.origin, told.at], ['DOCKER_HOST', { kind: 'unix', path: '/run/user/1000/docker.sock' }])
  assert.is(readEngineAddress('unix:///a', { DOCKER_HOST: 'unix:///b' }).text, 'unix:///a')
  assert.is(readEngineAddress(undefined, { DOCKER_HOST: ' ' }).origin, 'default')
})

test('tcp engines: standard ports, certificates where they are asked for, and which of them are here', () => {
  const read = (host: string, more = {}) => readEngineAddress(host, { HOME: '/home/me', ...more })
  assert.equal(read('tcp://127.0.0.1:2375').at, { kind: 'tcp', host: '127.0.0.1', port: 2375, certificates: undefined })
  assert.equal(read('tcp://build-7', { DOCKER_TLS_VERIFY: '1' }).at, {
    kind: 'tcp',
    host: 'build-7',
    port: 2376,
    certificates: '/home/me/.docker',
  })
  assert.equal(read('tcp://[::1]:9', { DOCKER_TLS_VERIFY: '1', DOCKER_CERT_PATH: '/c' }).at, {
    kind: 'tcp',
    host: '::1',
    port: 9,
    certificates: '/c',
  })
  assert.equal(
    ['tcp://localhost', 'tcp://127.0.0.2:1', 'tcp://[::1]', 'tcp://build-7', 'tcp://10.0.0.1'].map(
      each => read(each).isHere,
    ),
    [true, true, true, false, false],
  )
})

test('an address that none can be used by is refused, naming who said it', async () => {
  const bad = [
    'ssh://me@build-7',
    'npipe:////./pipe/docker_engine',
    'http://x',
    'unix://',
    'unix://a/b',
    'tcp://',
    'tcp://x/y',
    'x:1',
  ]
  for (const text of bad) {
    const error = await failure((async () => readEngineAddress(undefined, { DOCKER_HOST: text }))())
    assert.is(error.tag, 'docker-bad-host', text)
    assert.match(error.message, /^DOCKER_HOST is .*unix:\/\/.*tcp:\/\//)
  }
  assert.match((await failure((async () => readEngineAddress('x', {}))())).message, /^the option `host`/)
})

test('an owner elsewhere is alive until its expiry has passed; one here is what it is', () => {
  const far = { owner: 'build-7~0123456789ab.4026531836~4711~99', expiry: '2030-01-01T00:00:00.000Z' }
  const expiry = Date.parse(far.expiry)
  assert.is(judgeLabels(far, expiry - 1), 'elsewhere')
  assert.is(judgeLabels(far, expiry), 'expired')
  assert.is(judgeLabels({ owner: far.owner }, expiry), 'elsewhere')
  assert.is(judgeLabels({ ...far, owner: toOwnerWord() }, expiry), 'alive')
  assert.is(judgeLabels({ owner: toOwnerWord().replace(/\d+$/, '1') }, 0), 'dead')
})

test.run()
