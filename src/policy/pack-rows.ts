/**
 * Rows laid out in bins of a fixed length. Rows with the same prompt share it: outputs stand one after the other behind it, and an
 * attention mask keeps them from seeing each other, so that a prompt is computed once for all its outputs.
 */
import type { MergedRow } from './merge-rows.ts'

/** All but the last token of a prompt, and the outputs that go on from there. */
export interface Block {
  readonly prefix: Uint32Array
  /** Where in the bin the prefix stands. */
  readonly start: number
  readonly segments: readonly Segment[]
}

/** The positions that are asked for an output's tokens, one for each: the prompt's last token, then the output's but for its last. */
export interface Segment {
  readonly row: MergedRow
  /** Which row it was. */
  readonly index: number
  /** Where in the bin it stands. */
  readonly start: number
}

export type Bin = readonly Block[]

interface OpenBin {
  readonly blocks: Block[]
  used: number
}

interface Waiting {
  readonly row: MergedRow
  readonly index: number
}

/** Bins for `rows`, of `length` positions each; the same rows in the same order always get the same places. */
export function packRows(rows: readonly MergedRow[], length: number): Bin[] {
  const bins: OpenBin[] = []
  for (const group of groupByPrompt(rows)) {
    let waiting = group
    while (waiting.length > 0) {
      const whole = sizeOf(waiting)
      let bin = bins.find(({ used }) => used + whole <= length)
      if (bin === undefined) {
        bin = { blocks: [], used: 0 }
        bins.push(bin)
      }
      waiting = place(waiting, bin, length)
    }
  }
  return bins.map(({ blocks }) => blocks)
}

/** Adds one block with as many as fit, at least one; returns the others. */
function place(waiting: readonly Waiting[], bin: OpenBin, length: number): Waiting[] {
  const prefix = prefixOf(waiting)
  const start = bin.used
  const segments: Segment[] = []
  let end = start + prefix.length
  for (const { row, index } of waiting) {
    if (segments.length > 0 && end + row.sampled.length > length) break
    segments.push({ row, index, start: end })
    end += row.sampled.length
  }
  bin.blocks.push({ prefix, start, segments })
  bin.used = end
  return waiting.slice(segments.length)
}

function groupByPrompt(rows: readonly MergedRow[]): Waiting[][] {
  const groups = new Map<string, Waiting[]>()
  for (const [index, row] of rows.entries()) {
    if (row.sampled.length === 0) continue
    const key = row.tokens.subarray(0, row.promptLength).join()
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [{ row, index }])
    else group.push({ row, index })
  }
  return [...groups.values()]
}

function prefixOf(waiting: readonly Waiting[]): Uint32Array {
  const row = waiting[0]?.row
  return row === undefined ? new Uint32Array(0) : row.tokens.subarray(0, row.promptLength - 1)
}

function sizeOf(waiting: readonly Waiting[]): number {
  return waiting.reduce((sum, { row }) => sum + row.sampled.length, prefixOf(waiting).length)
}
