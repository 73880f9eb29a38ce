/** What workers tell their coordinator: packed and read again, and read from bytes that nobody has packed. */
import * as fc from 'fast-check'
import * as assert from 'uvu/assert'
import { joinParts, pack } from '../../src/cluster/codec.ts'
import { packResult, parseResults, type ResultMessage, toPart } from '../../src/cluster/wire.ts'
import { TroupeError } from '../../src/errors.ts'
import { toGroupId } from '../../src/ids.ts'
import { packTrajectory, unpackTrajectory } from '../../src/rollout/pack.ts'
import { makeHeader, makeTrajectory } from '../journal/fixtures.ts'
import { suite } from '../support/suite.ts'
import { assertData } from './assert-data.ts'
import { deadlineOf, fuzz, prototypeKeys, report } from './executions.ts'
import { mutated } from './mutate.ts'

const test = suite('fuzz: results of workers')
const before = prototypeKeys()
test.after(report)

type RunMessage = Extract<ResultMessage, { type: 'run' }>

function toMessage(trajectory: Uint8Array, columns: unknown): RunMessage {
  const task = { env: 'calc', id: 'repair', args: { columns }, slug: 'repair', columns: {} }
  const header = makeHeader({ bytes: trajectory.byteLength, task: task as never })
  return { type: 'run', header, trajectory, object: undefined }
}

const trajectory = fc
  .tuple(fc.nat(3), fc.nat(40), fc.nat(20))
  .map(([turns, prompt, output]) => packTrajectory(makeTrajectory(turns, prompt, output)))
/** msgpackr gives a field of that name another. */
const columns = fc.jsonValue({ maxDepth: 2 }).filter(value => !JSON.stringify(value).includes('__proto__'))
const run = fc.tuple(trajectory, columns).map(([bytes, given]) => toMessage(bytes, given))
const end: fc.Arbitrary<ResultMessage> = fc.oneof(
  fc.nat(9).map(losses => ({ type: 'handed-back', groupId: toGroupId('g'), epoch: 'e', start: 1, losses }) as const),
  fc.nat(9).map(start => ({ type: 'exhausted', groupId: toGroupId('g'), epoch: 'e', start }) as const),
  fc
    .string()
    .map(
      message =>
        ({ type: 'crashed', groupId: toGroupId('g'), epoch: 'e', start: 1, error: { tag: 't', message } }) as const,
    ),
  fc
    .string({ minLength: 1 })
    .map(object => ({ type: 'run', header: makeHeader({ bytes: 9e6 }), trajectory: undefined, object }) as const),
)

/** As the client library gives it: a piece of what came from the socket, or all of it. */
function toChunk(payload: Uint8Array, ahead: number, behind: number): Buffer {
  const chunk = Buffer.alloc(ahead + payload.byteLength + behind, 0xee)
  chunk.set(payload, ahead)
  return chunk.subarray(ahead, ahead + payload.byteLength)
}

test(
  'a run comes as it went, wherever it lies, and holds no more memory than twice its bytes',
  async () => {
    let views = 0
    let copies = 0
    const behinds = fc.constantFrom(0, 1, 7, 65_536)
    await fuzz('results of runs', 1_500, [run, fc.nat(9), behinds], (message, ahead, behind) => {
      const payload = toChunk(packResult(message), ahead, behind)
      const [read, ...others] = parseResults('results', payload)
      assert.is(others.length, 0)
      assert.ok(read?.type === 'run' && read.trajectory !== undefined && message.trajectory !== undefined)
      assert.equal(read.header, message.header)
      const { buffer, byteLength } = read.trajectory
      assert.is(Buffer.compare(read.trajectory, message.trajectory), 0)
      assert.ok(buffer.byteLength <= 2 * byteLength, `${buffer.byteLength} bytes are held for ${byteLength}`)
      assert.is(Object.getPrototypeOf(read.trajectory), Uint8Array.prototype, 'no Buffer, whose slice is no copy')
      assert.equal(unpackTrajectory(read.trajectory), unpackTrajectory(message.trajectory))
      if (buffer === payload.buffer) views += 1
      else copies += 1
    })
    assert.ok(views > 100 && copies > 100, `${views} views and ${copies} copies`)
  },
  deadlineOf(1_500),
)

test(
  'what has no trajectory with it comes as it went',
  () =>
    fuzz('results without bytes', 500, [end], message =>
      assert.equal(parseResults('results', packResult(message)), [message]),
    ),
  deadlineOf(500),
)

test(
  'several come in their order, each with its own trajectory',
  () =>
    fuzz('results together', 500, [fc.array(fc.oneof(run, end), { minLength: 2, maxLength: 6 })], messages => {
      const read = parseResults('results', joinParts(messages.map(toPart)))
      assert.equal(read, messages)
      for (const each of read)
        if (each.type === 'run' && each.trajectory !== undefined)
          assert.ok(each.trajectory.buffer.byteLength <= 2 * each.trajectory.byteLength)
    }),
  deadlineOf(500),
)

/** Right fields in the right places with anything in them, and lengths that are right, or not. */
const framed = fc
  .tuple(
    fc.record(
      {
        type: fc.constantFrom('run', 'handed-back', 'exhausted', 'crashed', 'walk', 1),
        header: fc.oneof(
          fc.jsonValue({ maxDepth: 1 }),
          fc.nat(12).map(bytes => makeHeader({ bytes })),
          fc.record({ runId: fc.jsonValue(), groupId: fc.string(), bytes: fc.double() }, { requiredKeys: [] }),
        ),
        object: fc.oneof(fc.string(), fc.nat(), fc.constant(undefined)),
        groupId: fc.oneof(fc.string(), fc.nat()),
      },
      { requiredKeys: [] },
    ),
    fc.constantFrom(0, 0, 0, -1, 1, -5, 12, 2 ** 31, 2 ** 32 - 200),
    fc.uint8Array({ maxLength: 12 }),
  )
  .map(([fields, more, rest]) => {
    const head = pack(fields)
    const length = Buffer.alloc(4)
    length.writeUInt32LE(Math.min(2 ** 32 - 1, Math.max(0, head.byteLength + more)))
    return Buffer.concat([length, head, rest])
  })
const garbage = fc.oneof(
  fc.uint8Array({ maxLength: 60 }).map(bytes => Buffer.from(bytes)),
  mutated(fc.oneof(run, end).map(message => Buffer.from(packResult(message)))),
  framed,
)

/** Results, or the one error. */
function read(payload: Uint8Array): readonly ResultMessage[] | undefined {
  try {
    return parseResults('results', payload)
  } catch (error) {
    assert.ok(
      error instanceof TroupeError && error.tag === 'bad-cluster-message',
      error instanceof Error ? error.stack : String(error),
    )
    return undefined
  } finally {
    assert.is(prototypeKeys(), before)
  }
}

test(
  'any bytes are a result, with all of its trajectory, or the one error',
  async () => {
    let results = 0
    await fuzz('result payloads', 5_000, [garbage], payload => {
      const together = read(payload)
      if (together === undefined) return
      assert.ok(together.length > 0)
      for (const result of together) {
        results += 1
        assertData(result)
        if (result.type === 'run')
          assert.is(result.trajectory?.byteLength, result.object === undefined ? result.header.bytes : undefined)
        else assert.type(result.groupId, 'string')
      }
    })
    assert.ok(results > 100, `${results} results`)
  },
  deadlineOf(5_000),
)

test('a length that promises 4 GiB takes no memory', () => {
  const atStart = process.memoryUsage()
  for (const head of [
    // Of the packed part; of an array, a map and binary in it.
    [0xff, 0xff, 0xff, 0xff],
    [0xfb, 0xff, 0xff, 0xff],
    ...[0xc6, 0xc9, 0xdb, 0xdd, 0xdf].map(token => [96, 0, 0, 0, token, 0xff, 0xff, 0xff, 0xff]),
  ])
    assert.is(read(Buffer.concat([Buffer.from(head), Buffer.alloc(100 - head.length)])), undefined)
  const atEnd = process.memoryUsage()
  const grown = atEnd.heapUsed + atEnd.arrayBuffers - atStart.heapUsed - atStart.arrayBuffers
  assert.ok(grown < 16 * 2 ** 20, `${grown} bytes`)
})

test('a trajectory that was given away is not sent as an empty one', () => {
  const given = packTrajectory(makeTrajectory())
  const message = toMessage(given, {})
  structuredClone(given, { transfer: [given.buffer] })
  assert.throws(
    () => packResult(message),
    (error: unknown) => error instanceof TypeError,
  )
})

test.run()
