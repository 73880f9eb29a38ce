import { request } from 'undici'

/** One request with a connection of its own. */
export async function ask(
  url: string,
  options: {
    readonly method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE'
    readonly headers?: Record<string, string>
  } = {},
) {
  const { statusCode, headers, body } = await request(url, { method: 'GET', ...options, reset: true })
  const text = await body.text()
  return {
    status: statusCode,
    headers,
    type: String(headers['content-type'] ?? ''),
    text,
    json: (): ReturnType<typeof JSON.parse> => JSON.parse(text),
  }
}
