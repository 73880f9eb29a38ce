/** The two halves of byte-pair encoding: learning merges, and applying them. */

interface Word {
  ids: number[]
  readonly count: number
}

/** One number for a pair of ids. */
export function pairKey(left: number, right: number): number {
  return left * 65_536 + right
}

/** At most `limit` merges whose ids count up from `firstId`: each time the pair seen most often, the first seen among equals. */
export function learnMerges(words: readonly Word[], limit: number, firstId: number): [number, number][] {
  const merges: [number, number][] = []
  let current = words
  while (merges.length < limit) {
    const best = commonestPair(current)
    if (best === undefined) break
    const id = firstId + merges.length
    current = current.map(({ ids, count }) => ({ ids: replacePair(ids, best, id), count }))
    merges.push(best)
  }
  return merges
}

/** Applies the merge with the lowest id first, as often as there is one. */
export function mergeAll(ids: number[], ranks: ReadonlyMap<number, number>): number[] {
  let merged = ids
  for (;;) {
    let best: { readonly pair: readonly [number, number]; readonly id: number } | undefined
    for (let i = 0; i + 1 < merged.length; i += 1) {
      const pair = [merged[i] ?? 0, merged[i + 1] ?? 0] as const
      const id = ranks.get(pairKey(...pair))
      if (id !== undefined && (best === undefined || id < best.id)) best = { pair, id }
    }
    if (best === undefined) return merged
    merged = replacePair(merged, best.pair, best.id)
  }
}

export function joinPair(left = new Uint8Array(0), right = new Uint8Array(0)): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(left.length + right.length)
  joined.set(left)
  joined.set(right, left.length)
  return joined
}

/** The pair seen most often, if one is seen twice. */
function commonestPair(words: readonly Word[]): [number, number] | undefined {
  const counts = new Map<number, number>()
  for (const { ids, count } of words)
    for (let i = 0; i + 1 < ids.length; i += 1) {
      const key = pairKey(ids[i] ?? 0, ids[i + 1] ?? 0)
      counts.set(key, (counts.get(key) ?? 0) + count)
    }
  let best: number | undefined
  let most = 1
  for (const [key, count] of counts)
    if (count > most) {
      most = count
      best = key
    }
  return best === undefined ? undefined : [Math.floor(best / 65_536), best % 65_536]
}

function replacePair(ids: readonly number[], [left, right]: readonly [number, number], id: number): number[] {
  const replaced: number[] = []
  for (let i = 0; i < ids.length; i += 1) {
    const isPair = ids[i] === left && ids[i + 1] === right
    replaced.push(isPair ? id : (ids[i] ?? 0))
    if (isPair) i += 1
  }
  return replaced
}
