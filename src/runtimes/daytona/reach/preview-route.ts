import type { Address } from '../../../wire/address.ts'
import type { Account } from '../account/account.ts'
import { callDaytona } from '../account/call.ts'
import { askEarly } from './ask-early.ts'
import { badPreviewUrl } from './errors.ts'
import type { Route, Target } from './route.ts'

const TOKEN_HEADER = 'x-daytona-preview-token'

/**
 * A WebSocket to the port's preview address: a round trip less than SSH and nothing held here, and it crosses threads as it is. Only servers that take
 * WebSockets answer it, as ours do.
 */
export function openPreviewRoute(
  { account, port }: { readonly account: Pick<Account, 'sandboxes'>; readonly port: number },
  { id, started, signal }: Target,
): Route {
  async function open(): Promise<Address> {
    const ask = () =>
      callDaytona(`get the preview address of the sandbox ${id}`, () =>
        account.sandboxes.getPortPreviewUrl(id, port, undefined, { signal }),
      )
    const [{ url, token }] = await Promise.all([askEarly(ask, started), started])
    if (!/^https?:\/\//.test(url)) throw badPreviewUrl(id)
    return { kind: 'websocket', url: url.replace(/^http/, 'ws'), headers: { [TOKEN_HEADER]: token } }
  }

  const address = open()
  address.catch(() => {}) // whoever waits for it is told
  return { transport: 'websocket', address, trouble: () => undefined, close: async () => {} }
}
