/** How quick something goes, and how long it will still take. */
export interface Pace {
  /** Units a second. */
  readonly rate: number
  /** Null as long as nobody can tell, and when nothing is left. */
  readonly leftMs: number | null
}

/** From so much of the work on a rate tells something: the first of many are the quick ones, or carry the start of everything. */
const EARLY_SHARE = 0.05

/** `fresh` is what was done in `elapsedMs`; what was found done already says nothing of how quick it goes. */
export function paceOf(
  { done, total, fresh, elapsedMs }: Readonly<Record<'done' | 'total' | 'fresh' | 'elapsedMs', number>>,
  earlyShare = EARLY_SHARE,
): Pace {
  const rate = elapsedMs <= 0 ? 0 : (fresh * 1_000) / elapsedMs
  const left = total - done
  const isTooEarly = rate === 0 || fresh < (left + fresh) * earlyShare
  return { rate, leftMs: isTooEarly || left <= 0 ? null : (left * 1_000) / rate }
}
