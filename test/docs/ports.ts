/** Pages name ports; tests take free ones, and say in what was printed the page's again. */
import { once } from 'node:events'
import { createServer } from 'node:net'

export interface Ports {
  /** The page's ports in the place of the free ones. */
  toPage(text: string): string
  /** Free ports in the place of the page's. */
  toFree(text: string): string
}

const NAMED = /(?:--(?:port|metrics|dashboard|ssh-port)[ =]|(?:127\.0\.0\.1|localhost):)(\d{4,5})\b/g
/** Below what the system gives to those who ask for any port. */
const LOWEST = 20_000
const COUNT = 10_000

/** For all ports that the text names where ports are named. */
export async function findPorts(text: string): Promise<Ports> {
  const named = [...new Set([...text.matchAll(NAMED)].map(([, port = '']) => port))]
  const pairs: (readonly [string, string])[] = []
  for (const port of named) pairs.push([port, await findFree(new Set(pairs.map(([, free]) => free)))])
  const exchange = (from: 0 | 1, to: 0 | 1) => (original: string) =>
    pairs.reduce((sofar, pair) => sofar.replaceAll(new RegExp(`\\b${pair[from]}\\b`, 'g'), pair[to]), original)
  return { toFree: exchange(0, 1), toPage: exchange(1, 0) }
}

async function findFree(taken: ReadonlySet<string>): Promise<string> {
  for (let at = process.pid % COUNT; ; at = (at + 1) % COUNT) {
    const port = LOWEST + at
    if (!taken.has(String(port)) && (await isFree(port))) return String(port)
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer()
  try {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    return true
  } catch {
    // EADDRINUSE: the next one.
    return false
  } finally {
    if (server.listening) await new Promise(resolve => server.close(resolve))
  }
}
