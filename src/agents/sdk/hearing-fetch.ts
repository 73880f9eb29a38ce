/**
 * The system's `fetch`, telling of each piece of a reply's body. The SDKs pass over what keeps a connection alive (pings, comments), which
 * is a word all the same.
 */
export function makeHearingFetch(
  heard: () => void,
): (input: Parameters<typeof fetch>[0], init?: RequestInit) => Promise<Response> {
  return async (input, init) => {
    const response = await fetch(input, init)
    heard()
    if (response.body === null) return response
    const listen = new TransformStream<Uint8Array, Uint8Array>({
      transform(piece, controller) {
        heard()
        controller.enqueue(piece)
      },
    })
    const { status, statusText, headers } = response
    return new Response(response.body.pipeThrough(listen), { status, statusText, headers })
  }
}
