import type { ControlClientOptions, TroupeControlClient } from '../wire/client.ts'

/** A control client whose code is loaded with its first call: a runtime makes one for sandboxes that it opens ahead, and most programs want none. */
export function makeLateClient(options: ControlClientOptions = {}): TroupeControlClient {
  let client: Promise<TroupeControlClient> | undefined
  let isClosed = false

  async function load(): Promise<TroupeControlClient> {
    const { makeControlClient } = await import('../wire/client.ts')
    const loaded = makeControlClient(options)
    if (isClosed) await loaded.close()
    return loaded
  }

  function open(): Promise<TroupeControlClient> {
    client ??= load()
    return client
  }

  return {
    connect: async (address, settings) => (await open()).connect(address, settings),
    endSession: async (address, sessionId, deadlineMs) => (await open()).endSession(address, sessionId, deadlineMs),
    async close() {
      isClosed = true
      await (await client)?.close()
    },
  }
}
