import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { hasTag } from '../../../errors.ts'
import { splice } from '../../../wire/splice.ts'
import type { GatewayLink } from './gateway-link.ts'

export interface TunnelPorts {
  /** Of the near end, a Unix socket. */
  readonly path: string
  /** In the sandbox. */
  readonly port: number
  /** A new connection to the gateway; `fresh` with a new token, since the one that was used is not let in. */
  readonly dial: (fresh: boolean) => Promise<GatewayLink>
}

/** A Unix socket whose every connection is one to a port of the sandbox. */
export interface Tunnel {
  /** Why the last connection could not be made; undefined when it could. */
  trouble(): string | undefined
  /** Cuts all that goes through it. */
  close(): Promise<void>
}

/**
 * Listens, and dials the gateway in advance. When the connection to the gateway is cut, so is all that went through it, and the next local connection
 * dials again. A connection that cannot be made is closed, as any forwarded port closes it behind which nothing listens. How long one may wait to be
 * made is up to whoever opened it: the far end is given up when the near end closes.
 */
export async function openTunnel({ path, port, dial }: TunnelPorts): Promise<Tunnel> {
  let link: Promise<GatewayLink> | undefined
  let trouble: string | undefined
  let closed = false
  const locals = new Set<Socket>()
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, local => {
    locals.add(local)
    local.once('close', () => locals.delete(local))
    local.on('error', () => local.destroy()) // `close` follows, and takes the far end along
    join(local)
  })
  server.listen(path)
  await once(server, 'listening')
  use().catch(() => {}) // noted as the trouble; the first local connection dials again

  async function join(local: Socket): Promise<void> {
    try {
      const channel = await openChannel()
      trouble = undefined
      if (local.destroyed) channel.destroy()
      else splice(local, channel)
    } catch (error) {
      note(error)
      local.destroy()
    }
  }

  async function openChannel(): Promise<Duplex> {
    const first = use()
    try {
      return await (await first).forward(port)
    } catch (error) {
      if (!hasTag(error, 'gateway-refused')) throw error
      return await (await use(first)).forward(port)
    }
  }

  /** The connection that there is, or a new one. With `spent`, one that is to replace it. Who needs one at the same time shares it. */
  function use(spent?: Promise<GatewayLink>): Promise<GatewayLink> {
    if (link !== undefined && link !== spent) return link
    const dialing = dial(spent !== undefined)
    link = dialing
    const forget = () => {
      if (link === dialing) link = undefined
    }
    dialing.then(
      opened => {
        if (closed) opened.close()
        if (opened.over.aborted) forget()
        else opened.over.addEventListener('abort', forget, { once: true })
      },
      error => {
        note(error)
        forget()
      },
    )
    return dialing
  }

  function note(error: unknown): void {
    trouble = error instanceof Error ? error.message : String(error)
  }

  return {
    trouble: () => trouble,
    async close() {
      if (closed) return
      closed = true
      const end = once(server, 'close')
      server.close()
      for (const local of locals) local.destroy()
      link?.then(
        opened => opened.close(),
        () => {}, // there is nothing to close
      )
      await end
    },
  }
}
