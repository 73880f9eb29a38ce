import * as fc from 'fast-check'
import * as assert from 'uvu/assert'
import { systemClock } from '../../src/clock.ts'
import { encodeFrame, encodeJsonFrame, FrameType, INPUT_WINDOW_BYTES } from '../../src/wire/exec-frames.ts'
import { bindingOf, type OpenedHost, openWorkspace } from '../environment/workspace/open-workspace.ts'
import { suite } from '../support/suite.ts'
import { cuts, deadlineOf, fuzz, hostileJson, pieces, report } from './executions.ts'

const test = suite('fuzz: exec/1 server')
let opened: OpenedHost
let token = ''

test.before(async () => {
  opened = await openWorkspace({ clock: systemClock })
  token = String(bindingOf(opened, 'exec/1').params.token)
})
test.after(async () => {
  await opened.closeHost()
  report()
})

const channel = fc.oneof(fc.nat(4), fc.constantFrom(2 ** 31, 2 ** 32 - 1))
const types = Object.values(FrameType)
const frame = fc.oneof(
  fc
    .tuple(channel, fc.constantFrom('cat', 'true', 'exit 3'))
    .map(([id, command]) => encodeJsonFrame(FrameType.start, id, { command, timeoutMs: 5_000 })),
  fc
    .tuple(
      channel,
      fc.constantFrom(FrameType.read, FrameType.write),
      fc.constantFrom('a', '../a', '/etc/passwd', '', 'a\u0000b', 'x'.repeat(5_000)),
    )
    .map(([id, type, path]) => encodeJsonFrame(type, id, { path })),
  fc
    .tuple(
      channel,
      fc.constantFrom(FrameType.input, FrameType.inputEnd, FrameType.kill),
      fc.uint8Array({ maxLength: 50 }),
    )
    .map(([id, type, payload]) => encodeFrame(type, id, payload)),
  channel.map(id => encodeFrame(FrameType.input, id, Buffer.alloc(INPUT_WINDOW_BYTES + 1))),
  fc
    .tuple(fc.constantFrom(...types), channel, hostileJson)
    .map(([type, id, value]) => encodeJsonFrame(type, id, value ?? null)),
  fc.uint8Array({ maxLength: 20 }).map(bytes => Buffer.from(bytes)),
)
const conversation = fc.tuple(fc.boolean(), fc.array(frame, { maxLength: 8 }))

async function say(sent: readonly Buffer[]): Promise<void> {
  const stream = await opened.host.connect('exec')
  const closed = new Promise(resolve => stream.once('close', resolve))
  stream.on('error', () => {}).resume()
  for (const piece of sent) if (stream.writable) stream.write(piece)
  stream.end()
  await closed
}

test(
  'any frames in any order end with their stream, and the workspace goes on',
  () =>
    fuzz('exec/1 server', 60, [conversation, cuts], async ([knowsToken, frames], places) => {
      const hello = encodeJsonFrame(FrameType.hello, 0, { token: knowsToken ? token : 'another' })
      await say(pieces(Buffer.concat([hello, ...frames]), places))
    }).then(async () => {
      const shell = await opened.shell('exec/1')
      assert.is((await shell.exec('echo alive')).stdout, 'alive\n')
      await shell.close()
    }),
  deadlineOf(60),
)

test.run()
