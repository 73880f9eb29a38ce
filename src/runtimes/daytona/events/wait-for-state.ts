import type { Sandbox as SandboxDto, SandboxState } from '@daytona/api-client'
import type { CancelTimer, Clock } from '../../../clock.ts'
import { TroupeError } from '../../../errors.ts'
import { sandboxFailed, waitTimeout } from './errors.ts'
import type { SandboxNews } from './event-feed.ts'
import type { Listener } from './events.ts'

export interface WaitOptions {
  readonly deadlineMs: number
  readonly signal?: AbortSignal
  readonly known?: SandboxDto
  readonly clock: Clock
  /** Aborts when the account is released. */
  readonly closing: AbortSignal
  /** What the stream told of it before anybody listened. */
  readonly recent: SandboxNews | undefined
  readonly trusted: () => boolean
  readonly listen: (listener: Listener) => () => void
  /** Asks the provider; undefined when the sandbox is gone. */
  readonly look: (signal: AbortSignal) => Promise<SandboxDto | undefined>
  readonly random: () => number
}

const OVER = new Error('the wait is over')
const FIRST_LOOK_MS = 250
const MAX_LOOK_MS = 2_000
/** While the stream tells of changes, a look is only there for what it might lose. */
const SPARSE_LOOK_MS = 10_000
const GROWTH = 1.5

/** Waits for one of `states`; see `SandboxEvents.reached` for how it ends. Leaves no timer, listener or call behind. */
export function waitForState(id: string, states: readonly SandboxState[], options: WaitOptions): Promise<SandboxDto> {
  const { clock, deadlineMs, signal, closing, known, recent, trusted, random } = options
  return new Promise((resolve, reject) => {
    const looks = new AbortController()
    let latest = known
    let last: SandboxState | undefined
    let lookFailed: unknown
    let looking = false
    let again = false
    let done = false
    let delayMs = FIRST_LOOK_MS
    let cancelLook: CancelTimer = () => {}

    const stop = options.listen({
      hear,
      missed: () => lookIn(random() * FIRST_LOOK_MS),
    })
    const cancelDeadline = clock.after(deadlineMs, () => fail(waitTimeout(id, states, last, deadlineMs, lookFailed)))
    const abort = () => fail(signal?.aborted === true ? signal.reason : closing.reason)
    signal?.addEventListener('abort', abort, { once: true })
    closing.addEventListener('abort', abort, { once: true })

    if (signal?.aborted === true || closing.aborted) abort()
    if (known !== undefined) note(known)
    if (recent !== undefined && !done) hear(recent)
    // Without a stream that is known to work, nothing else would tell: what is not known yet is looked at at once.
    if (!done) lookIn(known === undefined ? 0 : nextMs())

    function hear(news: SandboxNews): void {
      if (latest !== undefined) note({ ...latest, ...news })
      else if (isEnd(news.state)) lookIn(0)
      else last = news.state
    }

    function note(dto: SandboxDto): void {
      if (done) return
      latest = dto
      last = dto.state
      if (dto.state !== undefined && states.includes(dto.state)) succeed(dto)
      else if (isFailure(dto.state)) fail(sandboxFailed(id, dto.state ?? 'gone', dto.errorReason))
    }

    function isEnd(state: SandboxState | undefined): boolean {
      return state !== undefined && (states.includes(state) || isFailure(state))
    }

    /** One that is to be destroyed may well have failed before. */
    function isFailure(state: SandboxState | undefined): boolean {
      if (state === 'destroyed') return true
      return !states.includes('destroyed') && (state === 'error' || state === 'build_failed' || state === 'destroying')
    }

    function nextMs(): number {
      if (trusted()) return SPARSE_LOOK_MS * (0.5 + random())
      const ms = delayMs
      delayMs = Math.min(MAX_LOOK_MS, delayMs * GROWTH)
      return ms * (0.8 + 0.4 * random())
    }

    function lookIn(ms: number): void {
      cancelLook()
      cancelLook = clock.after(ms, () => void lookNow())
    }

    async function lookNow(): Promise<void> {
      if (done) return
      again = looking
      if (looking) return
      looking = true
      try {
        note((await options.look(looks.signal)) ?? gone(id, latest))
      } catch (error) {
        lookFailed = error
        // A refusal of the key or of the account will not go away; a fault or a limit may.
        if (!done && error instanceof TroupeError && error.data.transient !== true) fail(error)
      } finally {
        looking = false
        // What the look was asked before cannot know what has been told meanwhile.
        if (!done) lookIn(again ? 0 : nextMs())
      }
    }

    function succeed(dto: SandboxDto): void {
      end()
      resolve(dto)
    }

    function fail(error: unknown): void {
      end()
      reject(error)
    }

    function end(): void {
      done = true
      cancelLook()
      cancelDeadline()
      stop()
      signal?.removeEventListener('abort', abort)
      closing.removeEventListener('abort', abort)
      // With a reason: without one, each of hundreds of waits makes an error that nobody reads.
      if (looking) looks.abort(OVER)
    }
  })
}

/** Of one that the provider knows no more. */
function gone(id: string, latest: SandboxDto | undefined): SandboxDto {
  const nothing = { organizationId: '', name: id, user: '', env: {}, labels: {}, target: '', toolboxProxyUrl: '' }
  const sizes = { cpu: 0, gpu: 0, memory: 0, disk: 0, public: false, networkBlockAll: false }
  return { ...(latest ?? { id, ...nothing, ...sizes }), state: 'destroyed' }
}
