import type { SshAccessDto } from '@daytona/api-client'
import { settleWithin } from '../../../bounded.ts'
import type { Clock } from '../../../clock.ts'
import type { Address } from '../../../wire/address.ts'
import type { Account } from '../account/account.ts'
import { callDaytona } from '../account/call.ts'
import { askEarly } from './ask-early.ts'
import { OPENING_OVER } from './errors.ts'
import { parseSshAccess } from './gateway-address.ts'
import { dialGateway } from './gateway-link.ts'
import type { Route, Target } from './route.ts'
import type { SocketDirectory } from './socket-directory.ts'
import { openTunnel, type Tunnel } from './tunnel.ts'

export interface SshRoutePorts {
  readonly account: Pick<Account, 'sandboxes'>
  readonly directory: SocketDirectory
  readonly port: number
  readonly clock: Clock
}

const REVOKE_MS = 5_000

/** Through the provider's SSH gateway: works with whatever listens in the sandbox, and costs a token, a connection and a local socket. */
export function openSshRoute(
  { account, directory, port, clock }: SshRoutePorts,
  { id, started, signal }: Target,
): Route {
  const closing = new AbortController()
  let token: string | undefined
  let tunnel: Tunnel | undefined

  // The provider keeps one token a sandbox: a new one ends the one before.
  async function grant(until: AbortSignal): Promise<SshAccessDto> {
    const access = await callDaytona(`get SSH access to the sandbox ${id}`, () =>
      account.sandboxes.createSshAccess(id, undefined, undefined, { signal: until }),
    )
    token = access.token
    return access
  }

  async function open(): Promise<Address> {
    const [path] = await Promise.all([directory.newPath(), granted, started])
    signal.throwIfAborted()
    const opened = await openTunnel({
      path,
      port,
      dial: async fresh => {
        if (fresh) granted = grant(closing.signal)
        return dialGateway(parseSshAccess(id, await granted), clock, closing.signal)
      },
    })
    tunnel = opened
    return { kind: 'unix', path }
  }

  let granted = askEarly(() => grant(signal), started)
  const address = open()
  address.catch(() => {}) // whoever waits for it is told

  async function revoke(): Promise<void> {
    const call = callDaytona(`end SSH access to the sandbox ${id}`, () =>
      account.sandboxes.revokeSshAccess(id, undefined, token),
    )
    await settleWithin(clock, REVOKE_MS, call)
  }

  return {
    transport: 'ssh',
    address,
    trouble: () => tunnel?.trouble(),
    async close(forget) {
      closing.abort(OPENING_OVER)
      // Ends soon: the target's signal has aborted, or it is open.
      await address.catch(() => {})
      await tunnel?.close()
      if (forget) await revoke()
    },
  }
}
