/** What a worker asks before it sends creates to a provider's account. */
export interface TokensAsked {
  /** Which account: a hash of the provider's address and the key, never the key. */
  readonly account: string
  /** Creates that it would send now. */
  readonly wanted: number
  /** What the provider has last told it. */
  readonly seen?: ProviderSeen
}

/** A provider's word on its limit. Times are spans: machines' clocks differ. */
export interface ProviderSeen {
  readonly remaining: number
  /** Creates in one window; absent where the provider does not say. */
  readonly limit?: number
  readonly resetInMs: number
}

export interface TokensGiven {
  /** Creates that it may send. */
  readonly tokens: number
  /** Of which window they are, for what is given back. */
  readonly window: number
  /** They are good for so long. */
  readonly validMs: number
  /** None before so long; another may give some back sooner. */
  readonly againInMs: number
  /** Creates in one window, as far as anybody has been told. */
  readonly limit?: number
  /** Who share it. */
  readonly workers: number
}

/** What is known of an account, for another that keeps its bucket from now on. Times are spans: machines' clocks differ. */
export interface AccountLeft {
  readonly account: string
  readonly sinceMs: number
  readonly limit?: number
  readonly windowMs: number
  readonly window: number
  readonly endsInMs?: number
  readonly isGuessed: boolean
  readonly given: number
  readonly told: number
  readonly remaining: number
  readonly heldForMs: number
}

/** The limits on creates of all accounts that workers draw on. */
export interface LimitBook {
  take(asked: TokensAsked, workers: number, now: number): TokensGiven
  /** Tokens that were given and not used. */
  giveBack(given: Pick<TokensGiven, 'tokens' | 'window'> & { readonly account: string }): void
  /** The provider has said to stay away until then. */
  hold(account: string, until: number): void
  /** All of it, but for what nobody has asked for in ten minutes. */
  left(now: number): readonly AccountLeft[]
  /** Another has kept it so far. */
  adopt(left: readonly AccountLeft[], now: number): void
  /** Another has kept it, too: of one window the less is believed, of two the later. */
  merge(left: readonly AccountLeft[], now: number): void
}

interface Entry {
  askedAt: number
  readonly since: number
  limit: number | undefined
  /** The longest that a window was seen to have before it. */
  windowMs: number
  window: number
  /** Undefined: it begins with the next create. */
  endsAt: number | undefined
  /** Nobody has been told yet when it ends. */
  isGuessed: boolean
  /** Given out in this window. */
  given: number
  /** The least that the provider has said to be left of it; and that, without what was given since. */
  told: number
  remaining: number
  heldUntil: number
}

/** Ends of one window, reckoned from whole seconds, differ by as much. */
const SAME_WINDOW_MS = 2_000
const ROUNDING_MS = 1_000
/** While nothing is known of a limit, one create goes out, and twice as many with each of these: the first answer tells before many are refused. */
const DOUBLING_MS = 500
/** A provider that has said nothing by then has no limit that it tells of. */
const UNTOLD_MS = 5_000
const VALID_MS = 1_000
const IDLE_MS = 600_000

/**
 * One bucket for each account, kept by one coordinator, and asked over the links that workers have to theirs and coordinators to each other. A bucket of the key-value
 * store with compare-and-set would outlive them all, which no job does, and needs more: clocks that agree, tries again whenever two workers write at once, and a stream,
 * which takes nothing while its servers choose a leader. This one needs links, and those go on by any server that is left. Tokens of a worker that dies are lost until the
 * window is over. Who keeps it tells the others each second what is in it, so that another goes on from there; a lone coordinator that begins anew learns what is left from
 * the first answer. Windows are the provider's: so many creates in each, the first create begins it.
 */
export function makeLimitBook(): LimitBook {
  const entries = new Map<string, Entry>()

  function find(account: string, now: number): Entry {
    const entry = entries.get(account) ?? {
      askedAt: now,
      since: now,
      limit: undefined,
      windowMs: 0,
      window: 0,
      endsAt: undefined,
      isGuessed: false,
      given: 0,
      told: Number.POSITIVE_INFINITY,
      remaining: Number.POSITIVE_INFINITY,
      heldUntil: Number.NEGATIVE_INFINITY,
    }
    entries.set(account, entry)
    return entry
  }

  return {
    take({ account, wanted, seen }, workers, now) {
      const entry = find(account, now)
      entry.askedAt = now
      roll(entry, now)
      if (seen !== undefined && seen.resetInMs > 0) learn(entry, seen, now)
      const { heldUntil, limit, window } = entry
      const answer = { window, workers, ...(limit === undefined ? {} : { limit }) }
      if (now < heldUntil) return { ...answer, tokens: 0, validMs: 0, againInMs: heldUntil - now }
      if (limit === undefined) return { ...answer, ...untold(entry, wanted, now) }
      const left = Math.min(limit - entry.given, entry.remaining)
      // No more than an equal share of what is left, so that nobody waits for a window because another was first.
      const tokens = Math.max(0, Math.min(wanted, Math.ceil(left / Math.max(1, workers))))
      give(entry, tokens)
      if (entry.endsAt === undefined && tokens > 0) {
        entry.endsAt = now + entry.windowMs
        entry.isGuessed = true
      }
      const endsInMs = (entry.endsAt ?? now) - now
      return { ...answer, tokens, validMs: Math.min(VALID_MS, endsInMs), againInMs: tokens > 0 ? 0 : endsInMs }
    },
    giveBack({ account, tokens, window }) {
      const entry = entries.get(account)
      if (entry?.window === window) give(entry, -tokens)
    },
    hold(account, until) {
      const entry = entries.get(account)
      if (entry !== undefined) entry.heldUntil = Math.max(entry.heldUntil, until)
    },
    left(now) {
      for (const [account, { askedAt }] of entries) if (now - askedAt > IDLE_MS) entries.delete(account)
      return [...entries].map(([account, entry]) => toLeft(account, entry, now))
    },
    adopt(left, now) {
      for (const each of left) adopt(each, now)
    },
    merge(left, now) {
      for (const each of left) {
        const known = entries.get(each.account)
        if (known === undefined || known.window < each.window) adopt(each, now)
        else if (known.window === each.window) {
          known.limit ??= each.limit
          known.endsAt ??= each.endsInMs === undefined ? undefined : now + each.endsInMs
          known.given = Math.max(known.given, each.given)
          known.told = Math.min(known.told, each.told)
          known.remaining = Math.min(known.remaining, each.remaining)
        }
      }
    },
  }

  function adopt({ account, sinceMs, limit, endsInMs, heldForMs, ...rest }: AccountLeft, now: number): void {
    const heldUntil = Math.max(now + heldForMs, entries.get(account)?.heldUntil ?? Number.NEGATIVE_INFINITY)
    const endsAt = endsInMs === undefined ? undefined : now + endsInMs
    entries.set(account, { ...rest, askedAt: now, since: now - sinceMs, limit, endsAt, heldUntil })
  }
}

function toLeft(
  account: string,
  { askedAt: _, since, limit, endsAt, heldUntil, ...rest }: Entry,
  now: number,
): AccountLeft {
  return {
    account,
    ...rest,
    sinceMs: now - since,
    ...(limit === undefined ? {} : { limit }),
    ...(endsAt === undefined ? {} : { endsInMs: endsAt - now }),
    heldForMs: Math.max(0, heldUntil - now),
  }
}

function give(entry: Entry, tokens: number): void {
  entry.given = Math.max(0, entry.given + tokens)
  entry.remaining = Math.min(entry.told, entry.remaining - tokens)
}

function untold(entry: Entry, wanted: number, now: number): Pick<TokensGiven, 'tokens' | 'validMs' | 'againInMs'> {
  const sinceMs = now - entry.since
  const most = sinceMs < UNTOLD_MS ? 2 ** Math.floor(sinceMs / DOUBLING_MS) : Number.POSITIVE_INFINITY
  const tokens = Math.max(0, Math.min(wanted, most - entry.given))
  give(entry, tokens)
  return { tokens, validMs: VALID_MS, againInMs: tokens > 0 ? 0 : DOUBLING_MS - (sinceMs % DOUBLING_MS) }
}

/** The window is over: the next is as large, and begins with its first create. */
function roll(entry: Entry, now: number): void {
  if (entry.endsAt !== undefined && now >= entry.endsAt) begin(entry, undefined)
}

function begin(entry: Entry, endsAt: number | undefined): void {
  entry.window += 1
  entry.endsAt = endsAt
  entry.isGuessed = false
  entry.given = 0
  entry.told = Number.POSITIVE_INFINITY
  entry.remaining = Number.POSITIVE_INFINITY
}

/** Workers tell in any order: of one window the lowest figure is believed, and what is of an earlier one is not. */
function learn(entry: Entry, { limit, remaining, resetInMs }: ProviderSeen, now: number): void {
  const endsAt = now + resetInMs
  const { endsAt: known = endsAt } = entry
  if (endsAt < known - SAME_WINDOW_MS && !entry.isGuessed) return
  // The last second of one that is over may be told as the first of the next.
  if (entry.limit !== undefined && (entry.isGuessed || entry.endsAt === undefined) && resetInMs <= ROUNDING_MS) return
  if (endsAt > known + SAME_WINDOW_MS && !entry.isGuessed) begin(entry, endsAt)
  entry.endsAt = entry.isGuessed ? endsAt : Math.max(known, endsAt)
  entry.isGuessed = false
  // The first answer of a window has one less left than there are.
  entry.limit = limit ?? Math.max(entry.limit ?? 0, remaining + 1)
  entry.windowMs = Math.max(entry.windowMs, resetInMs)
  entry.told = Math.min(entry.told, remaining)
  entry.remaining = Math.min(entry.remaining, remaining)
}
