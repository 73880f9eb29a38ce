import type { Duplex } from 'node:stream'
import * as assert from 'uvu/assert'
import {
  encodeFrame,
  encodeJsonFrame,
  type Frame,
  FrameType,
  INPUT_WINDOW_BYTES,
  MAX_FRAME_BYTES,
  makeFrameReader,
} from '../../../src/wire/exec-frames.ts'
import { suite } from '../../support/suite.ts'
import { VirtualClock } from '../../support/virtual-clock.ts'
import { bindingOf, type OpenedHost, openWorkspace } from './open-workspace.ts'

const test = suite('exec/1 server')
const clock = new VirtualClock()
let opened: OpenedHost

test.before(async () => {
  opened = await openWorkspace({ clock })
})
test.after(() => opened.closeHost())

test('a stream that does not begin with a valid token is refused, and told so', async () => {
  const start = encodeJsonFrame(FrameType.start, 1, { command: 'touch ran' })
  const wrong = encodeJsonFrame(FrameType.hello, 0, { token: 'x' })
  for (const bytes of [start, Buffer.concat([wrong, start])])
    assert.is(await refusal(peer => peer.write(bytes)), 'exec-token-refused')
  assert.is(await refusal(peer => peer.write(encodeJsonFrame(FrameType.hello, 0, {}))), 'exec-frame-not-read')
  assert.is((await opened.workspace.exec('ls ran')).exitCode, 2)
})

test('a stream that says nothing is refused after its time', async () => {
  assert.is(await refusal(() => clock.advance(10_000)), 'exec-token-refused')
})

test('frames that break the protocol end the stream with the reason', async () => {
  const start = encodeJsonFrame(FrameType.start, 1, { command: 'sleep 60' })
  const tooMuch = Array.from({ length: 1 + INPUT_WINDOW_BYTES / 65_536 }, () =>
    encodeFrame(FrameType.input, 1, Buffer.alloc(65_536)),
  )
  const huge = encodeFrame(FrameType.input, 1)
  huge.writeUInt32BE(MAX_FRAME_BYTES + 1, 5)
  const cases: readonly [string, readonly Buffer[]][] = [
    ['exec-frame-not-read', [start, ...tooMuch]],
    ['exec-frame-not-read', [start, start]],
    ['exec-frame-not-read', [encodeJsonFrame(FrameType.start, 1, { command: 5 })]],
    ['exec-frame-not-read', [encodeFrame(FrameType.exit, 1)]],
    ['exec-frame-over-limit', [huge]],
  ]
  for (const [tag, frames] of cases)
    assert.is(await refusal(peer => peer.write(Buffer.concat([hello(), ...frames]))), tag)
})

test('output waits for a client that does not read, and none of it is lost', async () => {
  const stream = await opened.host.connect('exec')
  const command = 'head -c 6000000 /dev/zero; echo x > written'
  stream.pause()
  stream.write(Buffer.concat([hello(), encodeJsonFrame(FrameType.start, 1, { command, maxOutputBytes: 1e9 })]))
  await opened.workspace.exec('sleep 0.3')
  assert.is((await opened.workspace.exec('ls written')).exitCode, 2, 'the command is held back by its reader')
  const frames = await framesUntil(stream, ({ type }) => type === FrameType.exit)
  const bytes = frames
    .filter(({ type }) => type === FrameType.stdout)
    .reduce((sum, { payload }) => sum + payload.length, 0)
  assert.is(bytes, 6_000_000)
  stream.destroy()
})

test('commands end with their stream', async () => {
  const stream = await opened.host.connect('exec')
  const command = 'echo up; sleep 60; touch late'
  stream.write(Buffer.concat([hello(), encodeJsonFrame(FrameType.start, 1, { command })]))
  await framesUntil(stream, ({ type }) => type === FrameType.stdout)
  stream.destroy()
  const { stdout } = await opened.workspace.exec('echo next')
  assert.is(stdout, 'next\n')
})

const hello = () => encodeJsonFrame(FrameType.hello, 0, { token: bindingOf(opened, 'exec/1').params.token })

/** The tag of the failure on channel 0 that the server ends a stream with. */
async function refusal(provoke: (stream: Duplex) => void): Promise<string> {
  const stream = await opened.host.connect('exec')
  const closed = new Promise(resolve => stream.once('close', resolve))
  const failure = framesUntil(stream, ({ type, channel }) => type === FrameType.failure && channel === 0)
  provoke(stream)
  const last = (await failure).at(-1)
  stream.end()
  await closed
  return JSON.parse(last?.payload.toString() ?? '{}').tag
}

function framesUntil(stream: Duplex, isLast: (frame: Frame) => boolean): Promise<readonly Frame[]> {
  const read = makeFrameReader()
  const frames: Frame[] = []
  return new Promise(resolve => {
    stream.on('data', (chunk: Buffer) => {
      frames.push(...read(chunk))
      const last = frames.at(-1)
      if (last !== undefined && isLast(last)) resolve(frames)
    })
    stream.resume()
  })
}

test.run()
