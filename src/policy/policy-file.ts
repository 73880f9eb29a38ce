/**
 * A policy in one file: a mark, the format's version, a header of msgpack, float32 parameters as they are in memory
 * (little-endian), and a SHA-256 over all before it.
 */
import { createHash, randomUUID } from 'node:crypto'
import { open, readFile, rename, rm } from 'node:fs/promises'
import { Packr } from 'msgpackr'
import { z } from 'zod'
import { policyUnreadable, wrongTokenizer } from './errors.ts'
import type { ModelShape, Weights } from './policy.ts'
import type { PolicyContents } from './policy-contents.ts'
import { makeTokenizer } from './tokenizer.ts'
import { checkShape, checkWeights, parameterShapes } from './weights.ts'

const MARK = Buffer.from('troupe policy\n')
const FORMAT = 1
/** The format's version and the header's length, 32 bits each. */
const NUMBERS_BYTES = 8
const DIGEST_BYTES = 32

const count = z.number().int().min(1)
const headerSchema = z.object({
  name: z.string(),
  shape: z.object({ vocabulary: count, width: count, heads: count, layers: count, context: count }),
  tokenizer: z.object({
    special: z.array(z.string()),
    merges: z.array(z.tuple([z.number().int().min(0), z.number().int().min(0)])),
  }),
  fingerprint: z.string(),
  made: z.record(z.string(), z.unknown()),
  /** Optimiser steps, and whether a gradient is there too; null where only weights are kept. */
  training: z.object({ step: z.number().int().min(0), hasGradient: z.boolean() }).nullable(),
})
type Header = z.output<typeof headerSchema>

const packr = new Packr({ useRecords: false, variableMapSize: true })

/** Writes beside `path` and renames: whoever reads finds the old file or the new one, whole. Throws `wrong-shape`. */
export async function writePolicyFile(path: string, contents: PolicyContents): Promise<void> {
  const bytes = encodePolicy(contents)
  const draft = `${path}.${randomUUID()}.tmp`
  try {
    const file = await open(draft, 'wx')
    try {
      await file.writeFile(bytes)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(draft, path)
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
}

/** Rejects with `policy-unreadable`, or `wrong-tokenizer` where its tokenizer has another fingerprint than the one expected. */
export async function readPolicyFile(
  path: string,
  expected: { readonly fingerprint?: string } = {},
): Promise<PolicyContents> {
  let bytes: Buffer
  try {
    bytes = await readFile(path)
  } catch (error) {
    throw policyUnreadable(path, error instanceof Error ? error.message : String(error), error)
  }
  const contents = decodePolicy(path, bytes)
  const { fingerprint } = makeTokenizer(contents.tokenizer)
  if (expected.fingerprint !== undefined && expected.fingerprint !== fingerprint)
    throw wrongTokenizer(path, expected.fingerprint, fingerprint)
  return contents
}

/** The bytes of a policy file. Throws `wrong-shape`. */
export function encodePolicy({ name, shape, tokenizer, made, weights, training }: PolicyContents): Buffer {
  const sections = [weights, training?.first, training?.second, training?.gradient].filter(each => each !== undefined)
  for (const section of sections) checkWeights(shape, section)
  const header: Header = {
    name,
    shape,
    tokenizer: {
      special: [...tokenizer.special],
      merges: tokenizer.merges.map(([left, right]): [number, number] => [left, right]),
    },
    fingerprint: makeTokenizer(tokenizer).fingerprint,
    made,
    training: training === undefined ? null : { step: training.step, hasGradient: training.gradient !== undefined },
  }
  const packed = packr.pack(header)
  const numbers = Buffer.alloc(NUMBERS_BYTES)
  numbers.writeUInt32LE(FORMAT, 0)
  numbers.writeUInt32LE(packed.length, 4)
  const parameters = sections.flatMap(section =>
    [...parameterShapes(shape).keys()].map(parameter => {
      const values = section[parameter]?.values ?? new Float32Array(0)
      return Buffer.from(values.buffer, values.byteOffset, values.byteLength)
    }),
  )
  const body = Buffer.concat([MARK, numbers, packed, ...parameters])
  return Buffer.concat([body, digestOf(body)])
}

/** What `encodePolicy` made; `path` is for messages. Throws `policy-unreadable`. */
export function decodePolicy(path: string, bytes: Buffer): PolicyContents {
  const start = MARK.length + NUMBERS_BYTES
  if (bytes.length < start + DIGEST_BYTES || !bytes.subarray(0, MARK.length).equals(MARK))
    throw policyUnreadable(path, 'it is no policy file')
  const format = bytes.readUInt32LE(MARK.length)
  if (format !== FORMAT) throw policyUnreadable(path, `it has format ${format}, and this version reads ${FORMAT}`)
  const body = bytes.subarray(0, -DIGEST_BYTES)
  if (!digestOf(body).equals(bytes.subarray(-DIGEST_BYTES))) throw policyUnreadable(path, 'it is damaged')
  const end = start + bytes.readUInt32LE(MARK.length + 4)
  const { name, shape, tokenizer, fingerprint, made, training } = parseHeader(path, body.subarray(start, end))
  const { vocabulary, fingerprint: found } = makeTokenizer(tokenizer)
  if (vocabulary !== shape.vocabulary || found !== fingerprint)
    throw policyUnreadable(path, 'its tokenizer does not belong to its model')
  const read = makeReader(path, body.subarray(end), shape)
  const weights = read()
  if (training === null) return { name, shape, tokenizer, made, weights }
  const moments = { first: read(), second: read(), step: training.step }
  return {
    name,
    shape,
    tokenizer,
    made,
    weights,
    training: training.hasGradient ? { ...moments, gradient: read() } : moments,
  }
}

function parseHeader(path: string, bytes: Buffer): Header {
  try {
    const header = headerSchema.parse(packr.unpack(bytes))
    checkShape(header.shape)
    return header
  } catch (error) {
    throw policyUnreadable(path, 'its header cannot be understood', error)
  }
}

/** Each call reads one set of parameters, in copies that own their memory. */
function makeReader(path: string, bytes: Buffer, shape: ModelShape): () => Weights {
  let place = 0
  return () =>
    Object.fromEntries(
      [...parameterShapes(shape)].map(([name, extents]) => {
        const values = new Float32Array(extents.reduce((product, extent) => product * extent, 1))
        const source = bytes.subarray(place, place + values.byteLength)
        if (source.length < values.byteLength) throw policyUnreadable(path, `it ends before ${name}`)
        Buffer.from(values.buffer).set(source)
        place += values.byteLength
        return [name, { shape: extents, values }]
      }),
    )
}

function digestOf(bytes: Buffer): Buffer {
  return createHash('sha256').update(bytes).digest()
}
