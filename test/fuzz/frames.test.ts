import { isUtf8 } from 'node:buffer'
import * as fc from 'fast-check'
import * as assert from 'uvu/assert'
import { TroupeError } from '../../src/errors.ts'
import { encodeFrame, type Frame, FrameType, MAX_FRAME_BYTES, makeFrameReader } from '../../src/wire/exec-frames.ts'
import {
  parseCredit,
  parseExit,
  parseFailure,
  parseFile,
  parseHello,
  parseStart,
} from '../../src/wire/exec-messages.ts'
import { parseGrant, parseOffer, parseToken } from '../../src/wire/extension.ts'
import { FrameReader, type ReadFrame } from '../../src/wire/frame.ts'
import { parseWelcome } from '../../src/wire/hello.ts'
import { isObject, parseReply, parseRequest, RpcRefusal } from '../../src/wire/json-rpc.ts'
import { suite } from '../support/suite.ts'
import { cuts, deadlineOf, fuzz, hostileJson, pieces, prototypeKeys, report } from './executions.ts'

const test = suite('fuzz: frames')
const before = prototypeKeys()
test.after(report)

const line = fc.oneof(
  fc.uint8Array({ maxLength: 40 }).map(bytes => Buffer.from(bytes)),
  hostileJson.map(value => Buffer.from(`${JSON.stringify(value)}\n`)),
  fc.dictionary(fc.string(), fc.jsonValue()).map(value => Buffer.from(`${JSON.stringify(value)}\n`)),
  fc.constantFrom('\n', '{}\n', '{}\r\n', '[]\n', '{"a":1}', '{"__proto__":{"a":1}}\n').map(text => Buffer.from(text)),
)
const stream = fc.array(line, { maxLength: 12 }).map(lines => Buffer.concat(lines))

/** What a reader must say of these bytes, read whole by the plainest means. */
function expected(bytes: Buffer, limit: number): readonly string[] {
  const said: string[] = []
  for (let at = 0; ; ) {
    const end = bytes.indexOf(0x0a, at)
    const text = bytes.subarray(at, end === -1 ? bytes.length : end)
    if (text.length > limit) return [...said, 'too-large']
    if (end === -1) return said
    at = end + 1
    if (!isUtf8(text)) return [...said, 'not-utf8']
    let value: unknown
    try {
      value = JSON.parse(text.toString())
    } catch {
      return [...said, 'not-json']
    }
    if (!isObject(value)) return [...said, 'not-an-object']
    said.push(JSON.stringify(value))
  }
}

const toText = (read: ReadFrame) => (read.kind === 'frame' ? JSON.stringify(read.message) : read.problem.kind)

test(
  'a stream of any bytes in any pieces is read as the whole would be, and one line is held at most',
  () =>
    fuzz('frame reader', 2_000, [stream, cuts, fc.integer({ min: 1, max: 200 })], (bytes, places, limit) => {
      const reader = new FrameReader(limit)
      const said: string[] = []
      for (const piece of pieces(bytes, places)) {
        reader.push(piece)
        for (let read = reader.next(); read !== undefined; read = reader.next()) said.push(toText(read))
      }
      assert.equal(said, expected(bytes, limit))
      const broken = said.at(-1)?.startsWith('{') === false
      if (!broken) assert.ok(reader.rest().length <= limit)
    }),
  deadlineOf(2_000),
)

const execFrame = fc
  .tuple(fc.constantFrom(...Object.values(FrameType)), fc.nat(300), fc.uint8Array({ maxLength: 50 }))
  .map(([type, channel, payload]) => encodeFrame(type, channel, payload))
const noise = fc.uint8Array({ maxLength: 30 }).map(bytes => Buffer.from(bytes))
const tooLong = fc.integer({ min: MAX_FRAME_BYTES + 1, max: 2 ** 32 - 1 }).map(length => {
  const head = encodeFrame(FrameType.input, 1)
  head.writeUInt32BE(length, 5)
  return head
})
const execStream = fc
  .array(
    fc.oneof({ weight: 6, arbitrary: execFrame }, { weight: 1, arbitrary: noise }, { weight: 1, arbitrary: tooLong }),
    {
      maxLength: 10,
    },
  )
  .map(parts => Buffer.concat(parts))

function readAll(chunks: readonly Buffer[]): { readonly frames: readonly Frame[]; readonly tag: string | undefined } {
  const read = makeFrameReader()
  const frames: Frame[] = []
  try {
    for (const chunk of chunks) frames.push(...read(chunk))
    return { frames, tag: undefined }
  } catch (error) {
    if (!(error instanceof TroupeError)) throw error
    return { frames, tag: error.tag }
  }
}

test(
  'exec frames are cut the same however the bytes arrive; one that claims too much ends it before it is read',
  () =>
    fuzz('exec/1 frame reader', 2_000, [execStream, cuts], (bytes, places) => {
      const bytewise = readAll(Array.from(bytes, byte => Buffer.of(byte)))
      const cut = readAll(pieces(bytes, places))
      assert.is(cut.tag, bytewise.tag)
      // Frames in the piece that also holds a bad one are not handed out; all others are.
      assert.equal(cut.frames, bytewise.frames.slice(0, cut.frames.length))
      if (cut.tag === undefined) assert.is(cut.frames.length, bytewise.frames.length)
      else assert.is(cut.tag, 'exec-frame-over-limit')
    }),
  deadlineOf(2_000),
)

const payload = fc.oneof(
  fc.uint8Array({ maxLength: 60 }).map(bytes => Buffer.from(bytes)),
  hostileJson.map(value => Buffer.from(JSON.stringify(value))),
  fc
    .record(
      {
        token: hostileJson,
        command: hostileJson,
        timeoutMs: hostileJson,
        maxOutputBytes: hostileJson,
        path: hostileJson,
        exitCode: fc.integer(),
        tag: hostileJson,
        message: hostileJson,
      },
      { requiredKeys: [] },
    )
    .map(value => Buffer.from(JSON.stringify(value))),
)

test(
  'payloads of exec frames are read, or refused by the one error',
  () =>
    fuzz('exec/1 payloads', 2_000, [payload], bytes => {
      for (const parse of [parseHello, parseStart, parseFile, parseExit, parseFailure, parseCredit])
        try {
          parse(bytes)
        } catch (error) {
          assert.ok(error instanceof TroupeError && error.tag === 'exec-frame-not-read', String(error))
        }
    }),
  deadlineOf(2_000),
)

/** What cannot be made a text of, although it looks like an object that can. */
const hostileText = fc.oneof(
  hostileJson,
  fc.constantFrom({ toString: 1 }, { toString: null, valueOf: {} }, [[{ toString: 1 }]]),
)
/** With the right fields in the right places, and anything in them. */
const among = (...keys: readonly string[]) =>
  fc.oneof(hostileJson, fc.dictionary(fc.constantFrom(...keys), hostileText, { noNullPrototype: true }))
const welcome = fc.record({
  session_id: fc.string(),
  env: among('name', 'version'),
  bindings: fc.array(among('name', 'protocol', 'url', 'params'), { maxLength: 2 }),
  troupe: among('version', 'multiplex', 'maxFrameBytes'),
})
const rpcMessage = fc.record(
  {
    id: hostileJson,
    method: fc.oneof(fc.string(), hostileJson),
    params: among('session_id', 'troupe'),
    ch: fc.oneof(fc.nat(), hostileJson),
    result: fc.oneof(welcome, hostileJson),
    error: among('code', 'message', 'data'),
    jsonrpc: hostileJson,
  },
  { requiredKeys: [] },
)

const PLACE = { kind: 'tcp', host: '127.0.0.1', port: 1 } as const

test(
  'any JSON object is a request, a reply or neither, and never anything worse',
  () =>
    fuzz('JSON-RPC messages', 2_000, [rpcMessage], message => {
      try {
        const { channel, params, method } = parseRequest(message)
        assert.ok(Number.isSafeInteger(channel) && channel >= 0 && isObject(params) && typeof method === 'string')
      } catch (error) {
        assert.ok(error instanceof RpcRefusal, String(error))
      }
      parseReply(message)
      parseToken(message.params)
      for (const value of Object.values(message)) {
        parseOffer(value)
        parseGrant(value)
      }
      try {
        parseWelcome(PLACE, isObject(message.result) ? message.result : message)
      } catch (error) {
        assert.ok(error instanceof TroupeError && error.tag === 'bad-reply', String(error))
      }
      assert.is(prototypeKeys(), before)
    }),
  deadlineOf(2_000),
)

test.run()
