import { deserialize, serialize } from 'node:v8'
import { toLeaseId, toRunId } from '../../src/ids.ts'
import { Codec } from '../../src/kernel/codec.ts'
import { packTrajectory, unpackTrajectory } from '../../src/rollout/pack.ts'
import type { Trajectory } from '../../src/rollout/trajectory.ts'
import { FrameReader, MAX_FRAME_BYTES } from '../../src/wire/frame.ts'
import { requestText } from '../../src/wire/json-rpc.ts'
import { makeBenchHeader, makeRealSizeTrajectory, toPlainArrays } from '../trajectories.ts'

/** One way to make bytes of a value and the value of bytes. */
export interface Way {
  pack(): Uint8Array
  unpack(bytes: Uint8Array): unknown
}

/** Something that the engine sends or keeps, and how it, and others would, make bytes of it. */
export interface Subject {
  readonly name: string
  /** Messages in it: figures are for one. */
  readonly messages: number
  readonly ways: Readonly<Record<'ours' | 'JSON' | 'structured clone', Way>>
}

/** Envelopes in a batch of the kernel's, as many as wait when threads are busy. */
const BATCH = 128

/** The four kinds of bytes there are: a message between threads, alone and in a batch, a frame of the control channel, and a trajectory. */
export function makeSubjects(): readonly Subject[] {
  const batch = Array.from({ length: BATCH }, (_, index) => toRunCompleted(index))
  return [
    toMessageSubject('message between threads, alone', [makeLease()]),
    toMessageSubject(`message between threads, of ${BATCH}`, batch),
    {
      name: 'control-channel frame',
      messages: 1,
      ways: { ours: ownFrame(), JSON: throughJson(makeFrame(), same), 'structured clone': throughClone(makeFrame()) },
    },
    makeTrajectorySubject(makeRealSizeTrajectory()),
  ]
}

/** As messages are packed for a thread: all that wait in one array. */
function toMessageSubject(name: string, messages: readonly object[]): Subject {
  const codec = new Codec(() => {
    throw new Error('no message here has a ref')
  })
  const ours: Way = { pack: () => codec.pack(messages), unpack: bytes => codec.unpack(bytes, []) }
  const others = { JSON: throughJson(messages, same), 'structured clone': throughClone(messages) }
  return { name, messages: messages.length, ways: { ours, ...others } }
}

function makeTrajectorySubject(trajectory: Trajectory): Subject {
  const ours: Way = { pack: () => packTrajectory(trajectory), unpack: bytes => unpackTrajectory(bytes) }
  const others = { JSON: throughJson(trajectory, toTypedArrays), 'structured clone': throughClone(trajectory) }
  return { name: 'trajectory', messages: 1, ways: { ours, ...others } }
}

function ownFrame(): Way {
  const { id, method, params, ch } = makeFrame()
  return {
    pack: () => Buffer.from(requestText(id, method, params, ch)),
    unpack(bytes) {
      const reader = new FrameReader(MAX_FRAME_BYTES)
      reader.push(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
      const read = reader.next()
      if (read?.kind !== 'frame') throw new Error('the frame was not read')
      return read.message
    },
  }
}

/** `revive` makes of what JSON gives back what was packed. */
function throughJson(value: object, revive: (parsed: unknown) => unknown): Way {
  return {
    pack: () => Buffer.from(JSON.stringify(value, toPlainArrays)),
    unpack: bytes => revive(JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'))),
  }
}

/** What `postMessage` does, by the function that gives the bytes. */
function throughClone(value: object): Way {
  return { pack: () => serialize(value), unpack: bytes => deserialize(bytes) }
}

function makeLease() {
  return {
    type: 'lease',
    leaseId: toLeaseId('run-17-3.1'),
    runId: toRunId('run-17-3'),
    task: { env: 'calc', id: 'repair', args: { variant: 17 }, slug: 'repair-17' },
    deadlineMs: 120_000,
  }
}

/** Its bytes are handed over beside the message and so not packed. */
const toRunCompleted = (index: number) => ({
  type: 'run-completed',
  header: makeBenchHeader(index >> 3, index & 7, 75_000),
})

function makeFrame() {
  const params = { task: 'repair', args: { variant: 17, seed: 1_234_567 } }
  return { jsonrpc: '2.0', id: 4_321, method: 'tasks.start', params, ch: 17 }
}

const same = (parsed: unknown): unknown => parsed

/** Tokens as they are used, which msgpackr's and structured clone's readers give at once. */
function toTypedArrays(parsed: unknown): unknown {
  const { turns, ...rest } = parsed as { readonly turns: readonly { readonly tokens: Record<string, number[]> }[] }
  return {
    ...rest,
    turns: turns.map(({ tokens: { prompt = [], output = [], logprobs = [] }, ...turn }) => ({
      ...turn,
      tokens: {
        prompt: Uint32Array.from(prompt),
        output: Uint32Array.from(output),
        logprobs: Float32Array.from(logprobs),
      },
    })),
  }
}
