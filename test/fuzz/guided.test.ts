import * as assert from 'uvu/assert'
import { TroupeError } from '../../src/errors.ts'
import { Codec } from '../../src/kernel/codec.ts'
import { decodeBatch, encodeBatch } from '../../src/kernel/envelope.ts'
import { makeRandom } from '../../src/random.ts'
import { packTrajectory, unpackTrajectory } from '../../src/rollout/pack.ts'
import { encodeJsonFrame, FrameType, makeFrameReader } from '../../src/wire/exec-frames.ts'
import { FrameReader } from '../../src/wire/frame.ts'
import { parseReply, parseRequest, RpcRefusal } from '../../src/wire/json-rpc.ts'
import { makeTrajectory } from '../journal/fixtures.ts'
import { suite } from '../support/suite.ts'
import { assertData } from './assert-data.ts'
import { explore } from './coverage.ts'
import { deadlineOf, executed, executionsOf, prototypeKeys, report, SEED } from './executions.ts'

const test = suite('fuzz, guided by coverage')
const before = prototypeKeys()
test.after(report)

const codec = new Codec(address => {
  throw new TroupeError({ tag: 'no-refs', message: address })
})

/** Data, or one of the errors that are foreseen. */
function isForeseen(error: unknown): boolean {
  return error instanceof TroupeError || error instanceof RpcRefusal
}

const message = { type: 'told', ids: Uint32Array.of(1, 2), list: [1, 'two', null, { three: 3n }], when: new Date(0) }
const packed = Buffer.from(codec.pack([message, message]))

const TARGETS: readonly (readonly [
  name: string,
  scripts: RegExp,
  seeds: readonly Buffer[],
  run: (input: Buffer) => unknown,
])[] = [
  [
    'message codec',
    /msgpackr|kernel\/codec/,
    [packed, Buffer.from(codec.pack(new Map([['a', new Set([1])]])))],
    input => codec.unpack(input, []),
  ],
  [
    'thread batch',
    /msgpackr|kernel\/(codec|envelope)/,
    [Buffer.from(encodeBatch(2, Int32Array.of(1, 2), Int32Array.of(0, 3), packed))],
    input => codec.unpack(decodeBatch(input).payload, []),
  ],
  ['packed trajectory', /msgpackr|rollout\/pack/, [Buffer.from(packTrajectory(makeTrajectory()))], unpackTrajectory],
  [
    'control frames',
    /wire\/(frame|json-rpc)/,
    [
      Buffer.from(
        '{"id":1,"method":"hello","params":{},"ch":2}\n{"id":1,"error":{"code":-1,"message":"no","data":{}}}\n',
      ),
    ],
    input => {
      const reader = new FrameReader(200)
      reader.push(input)
      for (let read = reader.next(); read?.kind === 'frame'; read = reader.next()) {
        parseReply(read.message)
        parseRequest(read.message)
      }
    },
  ],
  [
    'exec/1 frames',
    /wire\/exec-frames/,
    [
      Buffer.concat([
        encodeJsonFrame(FrameType.hello, 0, { token: 'x' }),
        encodeJsonFrame(FrameType.start, 1, { command: 'true' }),
      ]),
    ],
    input => {
      const read = makeFrameReader()
      for (let at = 0; at < input.length; at += 7) read(input.subarray(at, at + 7))
    },
  ],
]

for (const [name, scripts, seeds, run] of TARGETS)
  test(
    `${name}: what reaches new code is kept and followed, and none of it comes to harm`,
    async () => {
      const { executions, corpus, blocks } = await explore({
        seeds,
        scripts,
        executions: executionsOf(1_500),
        random: makeRandom(SEED),
        run(input) {
          try {
            assertData(run(input))
          } catch (error) {
            if (!isForeseen(error))
              throw new Error(`seed ${SEED}, input ${input.toString('hex')}: ${String(error)}`, { cause: error })
          }
        },
      })
      executed(`${name}, guided (${blocks} blocks, ${corpus.length} inputs kept)`, executions)
      assert.ok(corpus.length > seeds.length, 'something new was found from what was given')
      assert.is(prototypeKeys(), before)
    },
    deadlineOf(1_500),
  )

test.run()
