/** Coordinators and their workers that draw on one account, on a virtual clock: what dispatchers do about limits, without the rest. */
import type { DeskMessage, DispatcherMessage, LimitNote } from '../../../actors/cluster-messages.ts'
import { endLimits, keepLimit, type LimitPorts, signLimits } from '../../../actors/dispatcher-limits.ts'
import { type DispatcherState, toInitialState } from '../../../actors/dispatcher-state.ts'
import type { TokensAsked, TokensGiven } from '../../../src/cluster/limit-book.ts'
import type { LimitSign } from '../../../src/cluster/limit-signs.ts'
import { makeSharedBucket, type SharedBucket } from '../../../src/cluster/shared-bucket.ts'
import { makeThrottle } from '../../../src/emulator/throttle.ts'
import type { Ref } from '../../../src/kernel/ref.ts'
import { readRateLimit, readRetryAfterMs } from '../../../src/runtimes/daytona/account/rate-limits.ts'
import type { TokenBucket } from '../../../src/runtimes/token-bucket.ts'
import type { VirtualClock } from '../../support/virtual-clock.ts'

export const ACCOUNT = 'a1'
const NAME = 'sandbox-create'
/** From a worker to the provider. */
const WAY_MS = 40
/** Between coordinators. */
const HOP_MS = 2
const TICK_MS = 500
const ANSWER_MS = 1_000

/** What workers say of their work. */
export const IDLE = { rollouts: 0, groups: 0, runs: 0, isDraining: false }

export interface LimitJob {
  readonly node: string
  readonly state: DispatcherState
  readonly buckets: readonly SharedBucket[]
  /** How the coordinator answers its workers; may be replaced by one that does not. */
  answer: (asked: TokensAsked) => Promise<TokensGiven>
  /** Nothing goes from it to other coordinators, or from them to it. */
  isCutOff: boolean
  /** What another coordinator has told, or is said to have told. */
  hear(sign: LimitSign): void
  /** Whom it takes for the keeper. */
  keeper(): string
  /** Without a word. Its workers are gone, too. */
  kill(): void
  end(): void
}

interface Jobs {
  /** `node`: its coordinator's. */
  start(node: string, workers: number): LimitJob
}

export function makeJobs(clock: VirtualClock): Jobs {
  const handlers = new Map<string, (message: LimitNote, replyTo: Ref<unknown> | undefined) => void>()
  const cutOff = new Set<string>()
  /** What comes to it, later. */
  const carry = (from: string, to: string, message: LimitNote, replyTo?: Ref<unknown>) =>
    void clock.after(HOP_MS, () => {
      if (!cutOff.has(from) && !cutOff.has(to)) handlers.get(to)?.(structuredClone(message), replyTo)
    })

  function start(node: string, workers: number): LimitJob {
    const state = toInitialState(node, clock.now())
    const buckets: SharedBucket[] = []
    const over = new AbortController()
    const refTo = (to: string): Ref<DispatcherMessage> => ({
      address: to,
      tell(message) {
        carry(node, to, message as LimitNote)
        return true
      },
    })
    const ports: LimitPorts = {
      node,
      tell(sign) {
        for (const to of handlers.keys()) carry(node, to, { type: 'limit-sign', sign })
      },
      reach: peer => refTo(peer.node),
      drop: () => {},
      close: () => handlers.delete(node),
    }
    const ask = (ref: Ref<never>, question: unknown, deadlineMs: number) =>
      new Promise<never>((resolve, reject) => {
        clock.after(deadlineMs, () => reject(new Error(`${ref.address} does not answer`)))
        carry(node, ref.address, question as LimitNote, {
          address: node,
          tell(answer) {
            const isCut = cutOff.has(node) || cutOff.has(ref.address)
            if (!isCut) clock.after(HOP_MS, () => resolve(answer as never))
            return true
          },
        })
      })
    const handle = (message: LimitNote, replyTo?: Ref<unknown>) =>
      keepLimit(state, ports, message, { self: refTo(node), clock, ask, replyTo })
    const tick = () => {
      if (!handlers.has(node)) return
      signLimits(state, ports, { self: refTo(node), clock, ask, replyTo: undefined })
      clock.after(TICK_MS, tick)
    }
    const job: LimitJob = {
      node,
      state,
      buckets,
      answer: asked =>
        new Promise((resolve, reject) => {
          clock.after(ANSWER_MS, () => reject(new Error('it does not answer')))
          handle(
            { type: 'take-tokens', ...asked },
            {
              address: 'asker',
              tell(given) {
                resolve(given as TokensGiven)
                return true
              },
            },
          )
        }),
      get isCutOff() {
        return cutOff.has(node)
      },
      set isCutOff(is) {
        if (is) cutOff.add(node)
        else cutOff.delete(node)
      },
      hear: sign => handle({ type: 'limit-sign', sign }),
      keeper: () => state.limits.election.keeper()?.node ?? node,
      kill() {
        handlers.delete(node)
        over.abort()
      },
      end() {
        endLimits(state, ports, { self: refTo(node), clock, ask, replyTo: undefined })
        over.abort()
      },
    }
    for (let index = 0; index < workers; index += 1) {
      const bucket = makeSharedBucket({
        account: ACCOUNT,
        clock,
        ask: asked => job.answer(asked),
        giveBack: given => handle({ type: 'give-tokens-back', ...given }),
        tellHold: forMs => handle({ type: 'hold-creates', account: ACCOUNT, forMs }),
        over: over.signal,
      })
      buckets.push(bucket)
      const worker = `worker-${node}-${index}`
      const desk = {
        address: worker,
        tell(message: DeskMessage) {
          if (message.type === 'hold-creates') bucket.hold(message.forMs)
          return true
        },
      }
      const note = { node: worker, host: 'here', owner: worker, version: '1', protocol: 1, credits: 8 }
      state.workers.add(note, IDLE, desk, clock.now())
    }
    handlers.set(node, handle)
    tick()
    return job
  }

  return { start }
}

export interface Drawn {
  readonly taken: number
  /** It takes no more. */
  stop(): void
}

/** Calls `create` for each token, as a pool does, until it has had that many. */
export function draw(clock: VirtualClock, bucket: TokenBucket, most: number, create: () => void): Drawn {
  const drawn = {
    taken: 0,
    isOver: false,
    stop() {
      drawn.isOver = true
    },
  }
  const look = () => {
    while (!drawn.isOver && drawn.taken < most && bucket.take(clock.now())) {
      drawn.taken += 1
      create()
    }
    if (!drawn.isOver && drawn.taken < most) clock.after(Math.max(1, bucket.nextAt(clock.now()) - clock.now()), look)
  }
  look()
  return drawn
}

/** A provider that admits so many creates a minute; what is refused comes again. */
export function makeProvider(clock: VirtualClock, limit: number) {
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
