/**
 * Byte-pair encoding (Sennrich et al. 2016, arXiv 1508.07909) over the bytes of UTF-8, so that any text can be put into tokens and back.
 * Merges never cross a line's end; within a line they are free, so that what often stands together becomes one token.
 */
import { createHash } from 'node:crypto'
import { joinPair, learnMerges, mergeAll, pairKey } from './merges.ts'
import type { TokenizerData } from './tokenizer-data.ts'

/** Before the value of a call's first parameter, its second, and so on. */
export const ARGUMENT_TOKENS = ['<arg1>', '<arg2>', '<arg3>', '<arg4>', '<arg5>', '<arg6>', '<arg7>', '<arg8>'] as const

/** Tokens that no text is encoded to: they give the conversation its form. */
export const SPECIAL_TOKENS = [
  '<pad>',
  '<system>',
  '<user>',
  '<tool>',
  '<assistant>',
  '<call>',
  ...ARGUMENT_TOKENS,
  '<eot>',
] as const
export type SpecialToken = (typeof SPECIAL_TOKENS)[number]

const BYTES = 256
const CACHED_PIECES = 10_000

export interface Tokenizer {
  /** Tokens in all. */
  readonly vocabulary: number
  /** A hash over everything that decides which text a token stands for, as hexadecimal digits. */
  readonly fingerprint: string
  readonly data: TokenizerData
  encode(text: string): number[]
  /** Special tokens come out as their names, bytes that are no UTF-8 as U+FFFD. */
  decode(ids: Iterable<number>): string
  special(name: SpecialToken): number
  isSpecial(id: number): boolean
}

/** The merges of the pairs that come most often in `texts`, at most so many. The same texts in the same order give the same merges. */
export function learnTokenizer(texts: readonly string[], merges: number): TokenizerData {
  const counts = new Map<string, number>()
  for (const text of texts) for (const piece of piecesOf(text)) counts.set(piece, (counts.get(piece) ?? 0) + 1)
  const words = [...counts].map(([piece, count]) => ({ ids: byteIds(piece), count }))
  return { special: [...SPECIAL_TOKENS], merges: learnMerges(words, merges, SPECIAL_TOKENS.length + BYTES) }
}

export function makeTokenizer(data: TokenizerData): Tokenizer {
  const first = data.special.length
  const bytes = data.special.map(name => Uint8Array.from(Buffer.from(name)))
  for (let byte = 0; byte < BYTES; byte += 1) bytes.push(Uint8Array.of(byte))
  const ranks = new Map<number, number>()
  for (const [left, right] of data.merges) {
    ranks.set(pairKey(left, right), bytes.length)
    bytes.push(joinPair(bytes[left], bytes[right]))
  }
  const known = new Map<string, readonly number[]>()
  const encodePiece = (piece: string): readonly number[] => {
    const found = known.get(piece)
    if (found !== undefined) return found
    const ids = mergeAll(byteIds(piece), ranks)
    if (known.size >= CACHED_PIECES) known.clear()
    known.set(piece, ids)
    return ids
  }
  return {
    vocabulary: bytes.length,
    fingerprint: createHash('sha256')
      .update(JSON.stringify([data.special, data.merges]))
      .digest('hex'),
    data,
    encode: text => piecesOf(text).flatMap(encodePiece),
    decode: ids => new TextDecoder('utf-8', { ignoreBOM: true }).decode(concatenate(ids, bytes)),
    special: name => data.special.indexOf(name),
    isSpecial: id => id < first,
  }
}

/** A line's end with the indentation behind it, or the rest of a line; long lines are taken apart, as merging them whole is slow. */
function piecesOf(text: string): string[] {
  return text.match(/\n *|[^\n]{1,256}/gu) ?? []
}

function byteIds(piece: string): number[] {
  return Array.from(Buffer.from(piece), byte => SPECIAL_TOKENS.length + byte)
}

function concatenate(ids: Iterable<number>, bytes: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat(Array.from(ids, id => bytes[id] ?? new Uint8Array(0)))
}
