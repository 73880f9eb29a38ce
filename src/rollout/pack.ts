import { latePackr } from '../late-packr.ts'
import { trajectoryNotData, unreadableTrajectory } from './pack-errors.ts'
import type { Run, RunHeader } from './run.ts'
import type { Trajectory, Turn, TurnTokens } from './trajectory.ts'

/*
 * A packed trajectory, little endian:
 *
 *     u32 MAGIC | u32 length of the body | body | 0 to 3 bytes of padding | token arrays
 *
 * The body is plain msgpack in which a turn's tokens are three counts; the arrays follow in the order of the turns, each turn's as
 * prompt ids, output ids, logprobs, four bytes an element and so always aligned. Packing copies each array once, unpacking none.
 */
const MAGIC = 0x31_4a_52_54
const HEAD_BYTES = 8
const ELEMENT_BYTES = 4

/** No extra types and no pointers: only data comes back. */
const packer = latePackr({ moreTypes: false, structuredClone: false })

/** Lengths of prompt ids, output ids and logprobs. The last two differ only where a sampler was at fault: kept as it came. */
type TokenCounts = readonly [number, number, number]

interface Body {
  readonly prompt: unknown
  readonly turns: readonly (Omit<Turn, 'tokens'> & { readonly tokens?: TokenCounts })[]
  readonly answer: unknown
  readonly grade: Trajectory['grade']
  readonly actorGrade?: Trajectory['grade']
}

/**
 * The trajectory in an array that owns its whole ArrayBuffer, so that it can be transferred to another thread. Throws
 * `trajectory-not-data` when an agent or an environment put something in that is no data, for instance a cycle.
 */
export function packTrajectory(trajectory: Trajectory): Uint8Array<ArrayBuffer> {
  let elements = 0
  const turns = trajectory.turns.map(turn => {
    if (turn.tokens === undefined) return turn
    const { prompt, output, logprobs } = turn.tokens
    elements += prompt.length + output.length + logprobs.length
    return { ...turn, tokens: [prompt.length, output.length, logprobs.length] }
  })
  const { prompt, answer, grade, actorGrade } = trajectory
  const body = packBody({ prompt, turns, answer, grade, ...(actorGrade === undefined ? {} : { actorGrade }) })
  const start = aligned(HEAD_BYTES + body.byteLength)
  // Not zeroed first, which would cost as much as the packing: every byte is written below, the padding here.
  const { buffer } = Buffer.allocUnsafeSlow(start + elements * ELEMENT_BYTES)
  const bytes = new Uint8Array(buffer)
  bytes.fill(0, HEAD_BYTES + body.byteLength, start)
  const words = new Uint32Array(buffer, 0, 2)
  words[0] = MAGIC
  words[1] = body.byteLength
  bytes.set(body, HEAD_BYTES)
  const ids = new Uint32Array(buffer, start)
  const floats = new Float32Array(buffer, start)
  let position = 0
  for (const { tokens } of trajectory.turns) {
    if (tokens === undefined) continue
    ids.set(tokens.prompt, position)
    position += tokens.prompt.length
    ids.set(tokens.output, position)
    position += tokens.output.length
    floats.set(tokens.logprobs, position)
    position += tokens.logprobs.length
  }
  return bytes
}

/**
 * The token arrays of the result are views of `bytes` where its place in memory allows, so `bytes` must not be changed or
 * transferred afterwards. Throws `unreadable-trajectory` for bytes that `packTrajectory` did not make, or not all of.
 */
export function unpackTrajectory(bytes: Uint8Array): Trajectory {
  const bodyEnd = endOfBody(bytes)
  const body = unpackBody(bytes.subarray(HEAD_BYTES, bodyEnd))
  const { buffer, byteOffset, byteLength } = bytes.byteOffset % ELEMENT_BYTES === 0 ? bytes : bytes.slice()
  const end = byteOffset + byteLength
  let offset = byteOffset + aligned(bodyEnd)
  const take = (length: number): number => {
    const from = offset
    offset += length * ELEMENT_BYTES
    if (offset > end) throw unreadableTrajectory('they end within the token arrays')
    return from
  }
  const toTokens = ([prompt, output, logprobs]: TokenCounts): TurnTokens => ({
    prompt: new Uint32Array(buffer, take(prompt), prompt),
    output: new Uint32Array(buffer, take(output), output),
    logprobs: new Float32Array(buffer, take(logprobs), logprobs),
  })
  const turns = body.turns.map(({ tokens, ...turn }) =>
    tokens === undefined ? turn : { ...turn, tokens: toTokens(tokens) },
  )
  const { prompt, answer, grade, actorGrade } = body
  return { prompt, turns, answer, grade, ...(actorGrade === undefined ? {} : { actorGrade }) }
}

/** A trajectory for people: of the tokens of its turns, only how many there are. */
export interface TrajectoryWords extends Omit<Trajectory, 'turns'> {
  readonly turns: readonly TurnWords[]
}

export type TurnWords = Omit<Turn, 'tokens'> & {
  readonly tokenCounts?: { readonly prompt: number; readonly output: number }
}

/** The beginning of a packed trajectory, which is all but its token arrays: a view. Throws `unreadable-trajectory`. */
export function packedWords(bytes: Uint8Array): Uint8Array {
  return bytes.subarray(0, endOfBody(bytes))
}

/** What `packedWords` gave, or a whole packed trajectory. Throws `unreadable-trajectory`. */
export function unpackWords(bytes: Uint8Array): TrajectoryWords {
  const { turns, ...rest } = unpackBody(bytes.subarray(HEAD_BYTES, endOfBody(bytes)))
  return {
    ...rest,
    turns: turns.map(({ tokens, ...turn }) =>
      tokens === undefined ? turn : { ...turn, tokenCounts: { prompt: tokens[0], output: tokens[1] } },
    ),
  }
}

function endOfBody(bytes: Uint8Array): number {
  if (bytes.byteLength < HEAD_BYTES) throw unreadableTrajectory(`${bytes.byteLength} bytes are less than a head`)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (view.getUint32(0, true) !== MAGIC) throw unreadableTrajectory('they do not begin with the mark of one')
  const bodyEnd = HEAD_BYTES + view.getUint32(4, true)
  if (bodyEnd > bytes.byteLength) throw unreadableTrajectory('they end within the body')
  return bodyEnd
}

/**
 * A run whose trajectory is unpacked when it is read: from `bytes` once, and then kept, or from what a function fetches, each time
 * anew, so that a long job's runs hold no memory. A spread of the run copies its header alone, and unpacks nothing.
 */
export function toRun(header: RunHeader, bytes: Uint8Array | (() => Uint8Array)): Run {
  return Object.assign(new LazyTrajectory(bytes), header)
}

/** A run's trajectory as it is packed, without unpacking it; the bytes are the run's own and must not be changed or transferred. */
export function toPacked(run: Run): Uint8Array {
  return LazyTrajectory.bytesOf(run) ?? packTrajectory(run.trajectory)
}

/** The part of a run that is not its header. On the prototype, so that copying a run does not read it. */
class LazyTrajectory {
  readonly #bytes: Uint8Array | (() => Uint8Array)
  #kept: Trajectory | undefined

  constructor(bytes: Uint8Array | (() => Uint8Array)) {
    this.#bytes = bytes
  }

  static bytesOf(run: object): Uint8Array | undefined {
    if (!(#bytes in run)) return undefined
    return typeof run.#bytes === 'function' ? run.#bytes() : run.#bytes
  }

  get trajectory(): Trajectory {
    if (typeof this.#bytes === 'function') return unpackTrajectory(this.#bytes())
    this.#kept ??= unpackTrajectory(this.#bytes)
    return this.#kept
  }
}

function packBody(body: unknown): Uint8Array {
  try {
    return packer().pack(body)
  } catch (error) {
    throw trajectoryNotData(error)
  }
}

function unpackBody(bytes: Uint8Array): Body {
  let body: unknown
  try {
    body = packer().unpack(bytes)
  } catch (error) {
    throw unreadableTrajectory('their body is no msgpack', error)
  }
  if (typeof body !== 'object' || body === null || !('turns' in body) || !Array.isArray(body.turns))
    throw unreadableTrajectory('their body has no turns')
  if (!body.turns.every(isTurn)) throw unreadableTrajectory('one of their turns is none')
  return body as Body
}

/** As far as reading goes on with it. */
function isTurn(turn: unknown): boolean {
  if (typeof turn !== 'object' || turn === null) return false
  if (!('tokens' in turn) || turn.tokens === undefined) return true
  const { tokens } = turn
  return (
    Array.isArray(tokens) && tokens.length === 3 && tokens.every(count => Number.isSafeInteger(count) && count >= 0)
  )
}

/** The next multiple of an element's size. */
function aligned(bytes: number): number {
  return (bytes + ELEMENT_BYTES - 1) & ~(ELEMENT_BYTES - 1)
}
