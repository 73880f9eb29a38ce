import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { hide } from '../../redact.ts'
import { metricsNotServed, metricsPortTaken } from '../errors.ts'
import type { Metrics } from './create-metrics.ts'

/** A small HTTP server with one page. */
export interface MetricsEndpoint {
  /** Where to scrape. */
  readonly url: string
  /** From now on these are answered; before, 503. */
  show(metrics: Pick<Metrics, 'text' | 'contentType'>): void
  /** Ends the server and every connection to it. */
  close(): Promise<void>
}

const PATH = '/metrics'
const MOST_CONNECTIONS = 32
/** For a request to come in. Answers are made at once. */
const REQUEST_MS = 10_000

/** Listens at once. Port 0 is any that is free. Rejects with `metrics-port-taken` or `metrics-not-served`. */
export async function openMetricsEndpoint(at: {
  readonly host: string
  readonly port: number
}): Promise<MetricsEndpoint> {
  let shown: Pick<Metrics, 'text' | 'contentType'> | undefined
  const server = createServer({ requestTimeout: REQUEST_MS, headersTimeout: REQUEST_MS }, (request, response) => {
    answer(request, response, shown).catch(error => {
      if (!response.headersSent) say(response, 500, `the metrics could not be read: ${hide(String(error))}`)
      else response.destroy()
    })
  })
  server.maxConnections = MOST_CONNECTIONS
  await new Promise<void>((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException) => {
      const address = formatHostPort(at.host, at.port)
      reject(error.code === 'EADDRINUSE' ? metricsPortTaken(address, error) : metricsNotServed(address, error))
    }
    server.once('error', fail)
    server.listen(at.port, at.host, () => {
      server.off('error', fail)
      // A connection that could not be taken, for want of descriptors: whoever scrapes sees it, and the job goes on.
      server.on('error', () => {})
      resolve()
    })
  })
  const bound = server.address()
  const port = typeof bound === 'object' && bound !== null ? bound.port : at.port
  return {
    url: `http://${formatHostPort(at.host, port)}${PATH}`,
    show(metrics) {
      shown = metrics
    },
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function answer(
  { method = '', url = '' }: IncomingMessage,
  response: ServerResponse,
  metrics: Pick<Metrics, 'text' | 'contentType'> | undefined,
): Promise<void> {
  if (url.split('?')[0] !== PATH) return say(response, 404, `metrics are at ${PATH}`)
  if (method !== 'GET' && method !== 'HEAD') {
    response.setHeader('Allow', 'GET, HEAD')
    return say(response, 405, 'metrics are only read')
  }
  if (metrics === undefined) return say(response, 503, 'the job has not begun')
  const text = await metrics.text()
  response.writeHead(200, { 'Content-Type': metrics.contentType, 'Content-Length': Buffer.byteLength(text) })
  response.end(method === 'HEAD' ? undefined : text)
}

function say(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8' })
  response.end(`${text}\n`)
}

function formatHostPort(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}
