import * as assert from 'uvu/assert'
import { type ControlServer, type ServeOptions, serveControl } from '../../../src/environment/server.ts'
import { type FixtureEnvironment, makeFixture } from './fixture-environment.ts'
import { dialRaw, type RawPeer } from './raw-peer.ts'

export interface World {
  readonly environment: FixtureEnvironment
  readonly server: ControlServer
  dial(): Promise<RawPeer>
}

/** A served fixture for one test, with every connection closed after it. */
export async function withServer(options: Partial<ServeOptions>, body: (world: World) => Promise<void>): Promise<void> {
  const environment = await makeFixture()
  const server = await serveControl(environment, { listen: { kind: 'tcp', host: '127.0.0.1', port: 0 }, ...options })
  const peers: RawPeer[] = []
  try {
    await body({
      environment,
      server,
      async dial() {
        const peer = await dialRaw(server.address)
        peers.push(peer)
        return peer
      },
    })
  } finally {
    for (const peer of peers) await peer.close()
    await server.close()
    await environment.close()
    assert.is(server.sessionCount(), 0)
  }
}

/** Waits for what the server does in its own time. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise(resolve => setImmediate(resolve))
}

export const sessionIdOf = (reply: unknown): string => {
  const id = JSON.stringify(reply).match(/"session_id":"(sess-[0-9a-f]{8})"/)?.[1]
  if (id === undefined) throw new Error(`no session id in ${JSON.stringify(reply)}`)
  return id
}
