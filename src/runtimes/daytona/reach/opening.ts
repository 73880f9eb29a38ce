import { settleWithin } from '../../../bounded.ts'
import type { Clock } from '../../../clock.ts'
import { hasTag } from '../../../errors.ts'
import type { TroupeControlClient } from '../../../wire/client.ts'
import type { Account } from '../account/account.ts'
import type { Transport } from '../options.ts'
import { type Answered, attempt } from './attempt.ts'
import { environmentNotReachable, environmentNotServing, OPENING_LATE, OPENING_OVER } from './errors.ts'
import type { Preference } from './preference.ts'
import { openPreviewRoute } from './preview-route.ts'
import { race } from './race.ts'
import type { OpenRequest, Reached } from './request.ts'
import type { Route } from './route.ts'
import { FORKED, type StartedServer, startServer } from './server.ts'
import type { SocketDirectory } from './socket-directory.ts'
import { openSshRoute } from './ssh-route.ts'
import { makeTimeLimit } from './time-limit.ts'

export interface OpeningPorts {
  readonly account: Pick<Account, 'sandboxes' | 'processes'>
  readonly client: TroupeControlClient
  readonly clock: Clock
  readonly directory: SocketDirectory
  /** In the sandbox. */
  readonly port: number
  readonly preference: Preference
  /** Aborts when everything is to end. */
  readonly closing: AbortSignal
  /** Keeps what nobody waits for until everything ends. */
  readonly later: (work: Promise<unknown>) => void
}

interface Run {
  readonly route: Route
  readonly prize: Promise<Answered>
  lose(): void
}

/** How long a server may say nothing before it is tried all the same, until one of this image has been seen to say that it serves, or not to. */
const UNKNOWN_GRACE_MS = 5_000

/** Reaches one sandbox after the other, each by what was learned from those before. */
export function makeOpening(ports: OpeningPorts): (request: OpenRequest) => Promise<Reached> {
  const { account, client, clock, preference } = ports
  /** Whether servers of this image say that they serve. */
  let announces: boolean | undefined

  function toGraceMs(deadlineMs: number): number {
    if (announces === undefined) return UNKNOWN_GRACE_MS
    return announces ? deadlineMs / 2 : 0
  }

  return async ({ id, sandbox, serve, prewarm, signal: wanted, deadlineMs }) => {
    const limit = makeTimeLimit(clock, { deadlineMs, wanted: AbortSignal.any([wanted, ports.closing]) })
    const { signal, leftMs } = limit
    const started = limit.hold(sandbox).then(dto => {
      limit.begin()
      return dto
    })
    const server = started.then(dto =>
      serve === undefined ? FORKED : startServer(account.processes(dto), serve, { id, clock, signal }),
    )
    const exit = new AbortController()
    const died = server.then(async ({ exited }) => {
      throw environmentNotServing(id, { command: serve?.command ?? '', ...(await exited(exit.signal)) })
    })
    const runs = new Map<Transport, Run>()

    function start(transport: Transport): Run {
      const own = new AbortController()
      const until = AbortSignal.any([signal, own.signal])
      const open = transport === 'ssh' ? openSshRoute : openPreviewRoute
      const route = open(ports, { id, started, signal: until })
      const graceMs = serve === undefined ? 0 : toGraceMs(deadlineMs)
      const prize = attempt(route, { client, clock, prewarm, leftMs, server, graceMs, signal: until })
      const lose = () => {
        own.abort(OPENING_OVER)
        ports.later(settled(prize).then(() => route.close(true)))
      }
      const run = { route, prize, lose }
      runs.set(transport, run)
      return run
    }

    try {
      const { transport, prize } = await limit.hold(
        Promise.race([race(preference.field(deadlineMs), start, clock), died]),
      )
      const running = await server
      preference.won(transport)
      if (serve !== undefined) announces = announces === true || running.hasAnnounced()
      ports.later(prize.left)
      return toReached(transport, prize, running, runs.get(transport)?.route)
    } catch (error) {
      const unreached = error === OPENING_LATE || isTimeout(error)
      const running = await settleWithin(clock, 0, server)
      const output = unreached ? await running?.output() : undefined
      limit.cut(error)
      await Promise.all([...runs.values()].flatMap(({ route, prize }) => [route.close(false), settled(prize)]))
      const abandoned = await server.catch(() => undefined) // it never was
      abandoned?.close()
      if (!unreached) throw firstOf(error)
      throw environmentNotReachable(id, {
        port: ports.port,
        deadlineMs,
        tried: [...runs.keys()],
        command: serve?.command,
        announced: running?.hasAnnounced() === true,
        output: output ?? '',
        troubles: toTroubles(runs, error),
      })
    } finally {
      exit.abort(OPENING_OVER)
      limit.release()
    }
  }
}

function toReached(transport: Transport, prize: Answered, server: StartedServer, route: Route | undefined): Reached {
  const { address, sessionId } = prize
  return {
    address,
    transport,
    sessionId,
    output: server.output,
    async close({ sandboxEnds = false } = {}) {
      server.close()
      await route?.close(!sandboxEnds)
    },
  }
}

/** Whether a `hello` was tried until the deadline, over at least one way. */
function isTimeout(error: unknown): boolean {
  return error instanceof AggregateError && error.errors.some(each => hasTag(each, 'connect-timeout'))
}

function firstOf(error: unknown): unknown {
  return error instanceof AggregateError ? error.errors[0] : error
}

function toTroubles(runs: ReadonlyMap<Transport, Run>, error: unknown): readonly string[] {
  const failures: readonly unknown[] = error instanceof AggregateError ? error.errors : []
  return [...runs].flatMap(([transport, { route }], at) => {
    const failure = failures[at]
    const said = failure instanceof Error && failure.cause instanceof Error ? failure.cause : failure
    const trouble = route.trouble() ?? (said instanceof Error ? said.message : undefined)
    return trouble === undefined ? [] : [`${transport}: ${trouble}`]
  })
}

/** Resolves when it has come to an end, whatever that is. */
function settled(promise: Promise<unknown>): Promise<unknown> {
  return promise.catch(() => undefined)
}
