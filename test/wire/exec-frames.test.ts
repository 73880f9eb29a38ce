import * as fc from 'fast-check'
import * as assert from 'uvu/assert'
import { hasTag } from '../../src/errors.ts'
import { encodeFrame, FrameType, MAX_FRAME_BYTES, makeFrameReader } from '../../src/wire/exec-frames.ts'
import { suite } from '../support/suite.ts'

const test = suite('exec/1 frames')

test('frames come back whole and in order, however the bytes are cut', () => {
  const frame = fc.record({
    type: fc.constantFrom(...Object.values(FrameType)),
    channel: fc.nat(0xffffffff),
    payload: fc.uint8Array({ maxLength: 40 }),
  })
  fc.assert(
    fc.property(
      fc.array(frame, { maxLength: 12 }),
      fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1 }),
      (frames, cuts) => {
        const bytes = Buffer.concat(frames.map(({ type, channel, payload }) => encodeFrame(type, channel, payload)))
        const read = makeFrameReader()
        const seen = []
        for (let at = 0, cut = 0; at < bytes.length; cut++) {
          const size = cuts[cut % cuts.length] ?? 1
          seen.push(...read(bytes.subarray(at, at + size)))
          at += size
        }
        assert.equal(
          seen.map(({ type, channel, payload }) => ({ type, channel, payload: [...payload] })),
          frames.map(({ type, channel, payload }) => ({ type, channel, payload: [...payload] })),
        )
      },
    ),
  )
})

test('a frame over the limit is refused from its header alone', () => {
  const header = Buffer.alloc(9)
  header.writeUInt32BE(MAX_FRAME_BYTES + 1, 5)
  try {
    makeFrameReader()(header)
    assert.unreachable()
  } catch (error) {
    assert.ok(hasTag(error, 'exec-frame-over-limit'))
  }
})

test.run()
