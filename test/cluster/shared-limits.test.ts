/** One limit on creates, and several workers that draw on it. */
import * as assert from 'uvu/assert'
import type { DeskMessage, LimitNote } from '../../actors/cluster-messages.ts'
import { keepLimit } from '../../actors/dispatcher-limits.ts'
import { toInitialState } from '../../actors/dispatcher-state.ts'
import { type LimitBook, makeLimitBook, type TokensAsked, type TokensGiven } from '../../src/cluster/limit-book.ts'
import { makeSharedBucket, type SharedBucket } from '../../src/cluster/shared-bucket.ts'
import { makeThrottle } from '../../src/emulator/throttle.ts'
import { readRateLimit, readRetryAfterMs } from '../../src/runtimes/daytona/account/rate-limits.ts'
import { suite } from '../support/suite.ts'
import { settle, VirtualClock } from '../support/virtual-clock.ts'

const test = suite('a limit that workers share')

const ACCOUNT = 'a1'
const NAME = 'sandbox-create'
/** From a worker to the provider. */
const WAY_MS = 40

interface Scene {
  readonly clock: VirtualClock
  readonly book: LimitBook
  readonly buckets: readonly SharedBucket[]
  /** How the coordinator answers; may be replaced by one that does not. */
  answer: (asked: TokensAsked) => Promise<TokensGiven>
}

function makeScene(workers: number): Scene {
  const clock = new VirtualClock()
  const state = toInitialState()
  const buckets: SharedBucket[] = []
  const tell = (note: LimitNote) => keepLimit(state, note, { clock, replyTo: undefined })
  const scene: Scene = {
    clock,
    book: state.limits,
    buckets,
    answer: asked =>
      new Promise(resolve => {
        const replyTo = {
          address: 'asker',
          tell(given: unknown) {
            resolve(given as TokensGiven)
            return true
          },
        }
        keepLimit(state, { type: 'take-tokens', ...asked }, { clock, replyTo })
      }),
  }
  for (let index = 0; index < workers; index += 1) {
    const bucket = makeSharedBucket({
      account: ACCOUNT,
      clock,
      ask: asked => scene.answer(asked),
      giveBack: given => tell({ type: 'give-tokens-back', ...given }),
      tellHold: forMs => tell({ type: 'hold-creates', account: ACCOUNT, forMs }),
      over: new AbortController().signal,
    })
    buckets.push(bucket)
    const node = `worker-${index}`
    const desk = {
      address: node,
      tell(message: DeskMessage) {
        if (message.type === 'hold-creates') bucket.hold(message.forMs)
        return true
      },
    }
    const note = { node, host: 'here', owner: node, version: '1', protocol: 1, credits: 8 }
    state.workers.add(note, { rollouts: 0, groups: 0, runs: 0, isDraining: false }, desk, 0)
  }
  return scene
}

/** Calls `create` for each token, as a pool does, until it has had that many. Resolves with how many it has had. */
function draw({ clock }: Scene, bucket: SharedBucket, most: number, create: () => void): { readonly taken: number } {
  const drawn = { taken: 0 }
  const look = () => {
    while (drawn.taken < most && bucket.take(clock.now())) {
      drawn.taken += 1
      create()
    }
    if (drawn.taken < most) clock.after(Math.max(1, bucket.nextAt(clock.now()) - clock.now()), look)
  }
  look()
  return drawn
}

/** A provider that admits so many creates a minute; what is refused comes again. */
function makeProvider({ clock }: Scene, limit: number) {
  const throttle = makeThrottle({ authenticated: 1_000, [NAME]: limit, 'sandbox-lifecycle': 1_000 }, clock, 1)
  const { [NAME]: counts } = throttle.counts
  return {
    counts,
    create(bucket: SharedBucket): void {
      clock.after(WAY_MS, () => {
        const { admitted, headers } = throttle.admit(NAME)
        clock.after(WAY_MS, () => {
          const wall = clock.wallTime()
          const left = readRateLimit(headers, NAME, wall)
          if (left !== undefined) bucket.learn({ ...left, resetAt: clock.now() + (left.resetAt - wall) }, clock.now())
          if (!admitted) bucket.pause(clock.now() + (readRetryAfterMs(headers, wall) ?? 0))
        })
      })
    },
  }
}

test('two workers together send what one account may, minute after minute, and next to nothing is refused', async () => {
  const scene = makeScene(2)
  const provider = makeProvider(scene, 40)
  const drawn = scene.buckets.map(bucket => draw(scene, bucket, 200, () => provider.create(bucket)))
  for (let minute = 1; minute <= 4; minute += 1) {
    await scene.clock.advance(60_000)
    assert.ok(provider.counts.refused <= 2, `${provider.counts.refused} refused in minute ${minute}`)
  }
  // None of it is wasted, but for the moments in which a window is found to be over.
  assert.ok(provider.counts.admitted >= 140, `${provider.counts.admitted} in four minutes`)
  for (const { taken } of drawn) assert.ok(taken >= 50, `a fair part: ${drawn.map(each => each.taken)}`)
})

test('a provider that tells of no limit is drawn on without one', async () => {
  const scene = makeScene(2)
  const [drawn] = scene.buckets.map(bucket => draw(scene, bucket, 1_000, () => {}))
  await scene.clock.advance(400)
  assert.ok((drawn?.taken ?? 0) <= 1, 'not before anybody can know')
  await scene.clock.advance(8_000)
  assert.is(drawn?.taken, 1_000)
})

test('what a worker that dies has taken is there again with the next window', () => {
  const book = makeLimitBook()
  const seen = { remaining: 9, limit: 10, resetInMs: 60_000 }
  const given = [0, 1, 2, 3, 4, 5].map(now => book.take({ account: ACCOUNT, wanted: 64, seen }, 2, now).tokens)
  assert.equal(given, [5, 2, 1, 1, 0, 0])
  assert.is(book.take({ account: ACCOUNT, wanted: 64 }, 2, 60_100).tokens, 5)
})

test('others have what a worker has not used, but not more than the provider has', () => {
  const book = makeLimitBook()
  const take = (remaining: number, now: number) =>
    book.take({ account: ACCOUNT, wanted: 64, seen: { remaining, limit: 10, resetInMs: 60_000 - now } }, 1, now)
  const { tokens, window } = take(9, 0)
  assert.is(tokens, 9)
  book.giveBack({ account: ACCOUNT, tokens: 9, window })
  assert.is(take(4, 1).tokens, 4, 'somebody else has used five')
  book.giveBack({ account: ACCOUNT, tokens: 4, window: window - 1 })
  assert.is(take(4, 2).tokens, 0, 'of a window that is over')
})

test('when one is told to stay away, all do, and none of them asks meanwhile', async () => {
  const scene = makeScene(2)
  const { book, buckets, clock } = scene
  const [told, other] = buckets
  book.take({ account: ACCOUNT, wanted: 0, seen: { remaining: 100, limit: 100, resetInMs: 60_000 } }, 2, 0)
  assert.is(other?.take(0), false)
  await settle()
  assert.is(other?.nextAt(0), 0, 'it has a token')
  told?.pause(5_000)
  assert.is(other?.take(0), false)
  assert.is(other?.nextAt(0), 5_000)
  assert.is(book.take({ account: ACCOUNT, wanted: 1 }, 2, 4_999).tokens, 0, 'one that joins now')
  await clock.advance(5_000)
  other?.nextAt(clock.now())
  await settle()
  assert.is(other?.take(clock.now()), true)
})

test('one that gets no answer goes on with an equal share, and with the whole once it is answered again', async () => {
  const scene = makeScene(3)
  const [bucket] = scene.buckets
  if (bucket === undefined) return
  const seen = { remaining: 120, limit: 120, resetInMs: 60_000 }
  scene.book.take({ account: ACCOUNT, wanted: 0, seen }, 3, 0)
  bucket.take(0)
  await settle()
  assert.is(bucket.take(0), true, 'it has heard of the limit and of the other two')
  const { answer } = scene
  scene.answer = () => Promise.reject(new Error('nobody there'))
  const alone = draw(scene, bucket, 1_000, () => {})
  await scene.clock.advance(60_000)
  assert.ok(alone.taken >= 38 && alone.taken <= 41, `${alone.taken} of 120 a minute, of three workers`)
  scene.answer = answer
  await scene.clock.advance(3_000)
  assert.ok(alone.taken > 100, `${alone.taken} with the others idle`)
})

test('one that has never had an answer is not stopped by that', async () => {
  const scene = makeScene(2)
  const [bucket] = scene.buckets
  if (bucket === undefined) return
  scene.answer = () => Promise.reject(new Error('nobody there'))
  const alone = draw(scene, bucket, 1_000, () => {})
  await scene.clock.advance(10_000)
  assert.ok(alone.taken >= 9 && alone.taken <= 11, `${alone.taken} in ten seconds`)
})

test.run()
