import { connect } from 'node:net'
import { request } from 'undici'
import * as assert from 'uvu/assert'
import { TroupeError } from '../../../src/errors.ts'
import { type MetricsEndpoint, openMetricsEndpoint } from '../../../src/telemetry/metrics/endpoint.ts'
import { suite } from '../../support/suite.ts'

const test = suite('metrics endpoint')
const metrics = { contentType: 'text/plain; version=0.0.4; charset=utf-8', text: async () => 'troupe_up 1\n' }

async function serving(body: (endpoint: MetricsEndpoint, base: string) => Promise<void>): Promise<void> {
  const endpoint = await openMetricsEndpoint({ host: '127.0.0.1', port: 0 })
  try {
    await body(endpoint, endpoint.url.replace('/metrics', ''))
  } finally {
    await endpoint.close()
  }
}

/** With a connection of its own each: none is kept for the next. */
async function ask(url: string, method: 'GET' | 'HEAD' | 'POST' = 'GET') {
  const { statusCode, headers, body } = await request(url, { method, reset: true })
  return { status: statusCode, type: headers['content-type'], text: await body.text(), allow: headers.allow }
}

test('metrics are at /metrics with their content type, and nothing is anywhere else', () =>
  serving(async (endpoint, base) => {
    endpoint.show(metrics)
    const found = await ask(endpoint.url)
    assert.equal([found.status, found.type, found.text], [200, metrics.contentType, 'troupe_up 1\n'])
    assert.is((await ask(`${base}/metrics?name=x`)).status, 200)
    assert.equal([(await ask(endpoint.url, 'HEAD')).status, (await ask(endpoint.url, 'HEAD')).text], [200, ''])
    for (const path of ['/', '/metrics/', '/metricsx', '/favicon.ico'])
      assert.is((await ask(`${base}${path}`)).status, 404, path)
    const posted = await ask(endpoint.url, 'POST')
    assert.equal([posted.status, posted.allow], [405, 'GET, HEAD'])
  }))

test('before there is a job it says so, and metrics that cannot be read are an error of that scrape alone', () =>
  serving(async endpoint => {
    assert.is((await ask(endpoint.url)).status, 503)
    endpoint.show({ ...metrics, text: () => Promise.reject(new Error('broken')) })
    const { status, text } = await ask(endpoint.url)
    assert.is(status, 500)
    assert.match(text, /broken/)
    endpoint.show(metrics)
    assert.is((await ask(endpoint.url)).status, 200)
  }))

test('a port that is in use, and an address that is not here, say what to do instead', () =>
  serving(async endpoint => {
    const port = Number(new URL(endpoint.url).port)
    const taken = await openMetricsEndpoint({ host: '127.0.0.1', port }).catch((error: unknown) => error)
    assert.ok(taken instanceof TroupeError)
    assert.is(taken.tag, 'metrics-port-taken')
    assert.match(taken.message, `127.0.0.1:${port} is in use`)
    assert.match(taken.message, '--metrics')
    // Of the range that is kept for documentation.
    const elsewhere = await openMetricsEndpoint({ host: '192.0.2.1', port: 0 }).catch((error: unknown) => error)
    assert.ok(elsewhere instanceof TroupeError)
    assert.is(elsewhere.tag, 'metrics-not-served')
  }))

test('closing ends connections that are held open, and frees the port', async () => {
  const endpoint = await openMetricsEndpoint({ host: '127.0.0.1', port: 0 })
  const port = Number(new URL(endpoint.url).port)
  const held = connect(port, '127.0.0.1')
  const gone = new Promise(resolve => held.once('close', resolve))
  held.on('error', () => {}) // A reset is an end, too.
  await new Promise(resolve => held.once('connect', resolve))
  await endpoint.close()
  await gone
  const again = await openMetricsEndpoint({ host: '127.0.0.1', port })
  await again.close()
})

test.run()
