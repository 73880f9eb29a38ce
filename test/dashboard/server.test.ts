import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { systemClock } from '../../src/clock.ts'
import { makeLadders } from '../../src/dashboard/ladders.ts'
import { type DashboardServer, type DashboardServerOptions, startDashboardServer } from '../../src/dashboard/server.ts'
import { hasTag } from '../../src/errors.ts'
import { openFeedClient } from '../../src/feed/client.ts'
import { PUBLISHED_LADDER_TEXT } from '../../src/receipts/index.ts'
import { readEvents, until } from '../feed/scene.ts'
import { suite } from '../support/suite.ts'
import { ask } from './ask.ts'
import { makeSource } from './scene.ts'

const test = suite('dashboard server')
const TOKEN = 'a-token-of-more-than-16'

async function serving(
  body: (base: string, server: DashboardServer) => Promise<void>,
  options: Partial<DashboardServerOptions> = {},
): Promise<void> {
  const server = await startDashboardServer({
    host: '127.0.0.1',
    port: 0,
    ladders: makeLadders([]),
    clock: systemClock,
    ...options,
  })
  try {
    await body(new URL(server.url).origin, server)
  } finally {
    await server.close()
    await server.close()
  }
}

test('the page, its modules and its libraries come from the server alone, under a policy that lets nothing else in', () =>
  serving(async base => {
    const page = await ask(`${base}/`)
    assert.equal([page.status, page.type], [200, 'text/html; charset=utf-8'])
    const policy = String(page.headers['content-security-policy'])
    assert.match(policy, "default-src 'none'")
    assert.match(policy, /script-src 'self' 'sha256-[A-Za-z0-9+/=]{44}'/)
    assert.not.match(policy, /unsafe-eval|script-src[^;]*unsafe-inline|https?:/)
    assert.equal(
      ['x-content-type-options', 'referrer-policy', 'cross-origin-resource-policy', 'cache-control'].map(
        name => page.headers[name],
      ),
      ['nosniff', 'no-referrer', 'same-origin', 'no-store'],
    )
    assert.not.match(page.text, /(src|href)="(https?:)?\/\//)
    const style = await ask(`${base}/page/style.css`)
    assert.equal([style.status, style.type], [200, 'text/css; charset=utf-8'])
    for (const path of [
      '/page/document.js',
      '/lib/echarts.js',
      '/lib/preact.js',
      '/lib/preact-hooks.js',
      '/lib/preact-jsx-runtime.js',
    ]) {
      const { status, type, text } = await ask(base + path)
      assert.equal([status, type], [200, 'text/javascript; charset=utf-8'], path)
      assert.match(text, 'export')
    }
    for (const path of [
      '/page/../server.js',
      '/page/%2e%2e/server.js',
      '/page/..%2fserver.js',
      '/page/style',
      '/page/document.ts',
      '/page/nothing.js',
      '/lib/constructor.js',
      '/lib/fastify.js',
      '/nothing',
      '/favicon.ico',
    ]) {
      const { status, json } = await ask(base + path)
      assert.equal([status, json().error.tag], [404, 'no-such-route'], path)
    }
  }))

test('before there is a job the page is there and its data say so', () =>
  serving(async (base, server) => {
    assert.is((await ask(`${base}/`)).status, 200)
    for (const path of ['/feed', '/jobs', '/runs/run-1']) {
      const { status, json } = await ask(base + path)
      assert.equal([status, json().error.tag], [503, 'job-not-begun'], path)
    }
    server.show(makeSource().source)
    assert.is((await ask(`${base}/jobs`)).status, 200)
  }))

test('nothing can be changed: all but GET is refused, on every route', () =>
  serving(async (base, server) => {
    server.show(makeSource().source)
    for (const method of ['POST', 'PUT', 'DELETE', 'HEAD'] as const)
      for (const path of ['/', '/feed', '/jobs', '/runs/run-1', '/ladders', '/enter/x', '/nothing'])
        assert.is((await ask(base + path, { method })).status, 405, `${method} ${path}`)
  }))

test('a page under a name of its own that leads here, and any page of another site, get nothing', () =>
  serving(async (base, server) => {
    server.show(makeSource().source)
    for (const path of ['/', '/feed', '/jobs', '/runs/run-1', '/ladders']) {
      const rebound = await ask(base + path, { headers: { host: 'evil.example' } })
      assert.equal([rebound.status, rebound.json().error.tag], [403, 'foreign-host'], path)
      const foreign = await ask(base + path, { headers: { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors' } })
      assert.equal([foreign.status, foreign.json().error.tag], [403, 'foreign-site'], path)
    }
  }))

test('the feed is server-sent events, whatever was heard before, and readers are limited', () =>
  serving(
    async (base, server) => {
      const { source, book, isWatched } = makeSource()
      server.show(source)
      const reader = readEvents(`${base}/feed`, { headers: { 'last-event-id': '7' } })
      assert.is(await reader.status, 200)
      await until(() => reader.messages.length > 0)
      assert.is(reader.messages[0]?.type, 'state')
      book.problems.add({ at: 1, kind: 'sandbox', tag: 'left', message: 'it will not go' })
      await until(() => reader.messages.some(({ problems }) => problems?.length === 1))
      const second = readEvents(`${base}/feed?job=job-1`)
      assert.is(await second.status, 200)
      const third = await ask(`${base}/feed`)
      assert.equal([third.status, third.json().error.tag], [503, 'too-many-watch'])
      assert.is((await ask(`${base}/feed?job=other`)).status, 404)
      for (const each of [reader, second]) each.close()
      await until(() => !isWatched())
      const last = readEvents(`${base}/feed`)
      assert.is(await last.status, 200)
      await server.close()
      await last.closed
      assert.is(isWatched(), false)
    },
    { mostReaders: 2 },
  ))

test('with a token nothing is told to whoever does not show it, and its address lets a browser and a client in', () =>
  serving(
    async (base, server) => {
      server.show(makeSource().source)
      assert.is(server.url, `${base}/enter/${TOKEN}`)
      for (const path of ['/', '/feed', '/jobs', '/ladders', '/page/style.css', '/nothing']) {
        const { status, json } = await ask(base + path)
        assert.equal([status, json().error.tag], [401, 'dashboard-token-wanted'], path)
      }
      assert.is((await ask(`${base}/enter/wrong`)).status, 401)
      const entered = await ask(server.url)
      assert.equal([entered.status, entered.headers.location], [303, '/'])
      const [cookie = ''] = String(entered.headers['set-cookie']).split(';')
      assert.is((await ask(`${base}/`, { headers: { cookie } })).status, 200)
      assert.is((await ask(`${base}/jobs`, { headers: { cookie, host: 'lab.example' } })).status, 200)
      const client = openFeedClient(new URL(server.url), { giveUpMs: 0 })
      assert.is((await client.next()).value?.type, 'state')
      await client.return(undefined)
      const stranger = openFeedClient(new URL(base), { giveUpMs: 0 })
      const refused = await stranger.next().catch((error: unknown) => error)
      assert.ok(hasTag(refused, 'feed-refused'))
      assert.match(refused.message, 'wants its token')
    },
    { token: TOKEN },
  ))

test('ladders are rows for a chart and pages of their own; what is no ladder is passed over, and what cannot be read is told', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'troupe-ladders-'))
  try {
    await mkdir(join(directory, 'sub.csv'))
    await writeFile(join(directory, 'mine.csv'), PUBLISHED_LADDER_TEXT.replace('# title: published ladder\n', ''))
    await writeFile(join(directory, 'copy.csv'), PUBLISHED_LADDER_TEXT)
    await writeFile(join(directory, 'bench.csv'), '# kind: bench\nname,value\nx,1\n')
    await writeFile(join(directory, 'broken.csv'), '# kind: ladder\nn,mode\n8,cold\n')
    await serving(
      async base => {
        const { ladders, unreadable } = (await ask(`${base}/ladders`)).json()
        const names = ladders.map(({ name }: { name: string }) => name)
        assert.ok(names.includes('published') && names.includes('mine'))
        assert.ok(!names.includes('copy') && !names.includes('bench'))
        assert.ok(unreadable.some(({ file }: { file: string }) => file.endsWith('broken.csv')))
        const mine = ladders.find(({ name }: { name: string }) => name === 'mine')
        assert.equal([mine.title, mine.rows.length, mine.points.length], ['mine', 12, 4])
        assert.equal(
          [mine.points[3].strategy, mine.points[3].n, mine.points[3].figures.ready_p50_s, mine.points[3].repetitions],
          ['cold', 256, 9.9, 3],
        )
        const page = await ask(`${base}/ladders/mine`)
        assert.equal([page.status, page.type], [200, 'text/html; charset=utf-8'])
        assert.match(page.text, 'Concurrency ladder, against the published ladder')
        assert.match(String(page.headers['content-security-policy']), "default-src 'none'")
        const missing = await ask(`${base}/ladders/none`)
        assert.equal([missing.status, missing.json().error.tag], [404, 'ladder-not-found'])
        assert.match(missing.json().error.message, 'mine')
      },
      { ladders: makeLadders([directory, join(directory, 'missing')]) },
    )
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
})

test('a port that is in use, and an address that is not here, say what to do instead', () =>
  serving(async base => {
    const port = Number(new URL(base).port)
    const start = (at: { host: string; port: number }) =>
      startDashboardServer({ ...at, ladders: makeLadders([]), clock: systemClock }).catch((error: unknown) => error)
    const taken = await start({ host: '127.0.0.1', port })
    assert.ok(hasTag(taken, 'dashboard-port-taken'))
    assert.match(taken.message, `127.0.0.1:${port} is in use`)
    // Of the range that is kept for documentation.
    assert.ok(hasTag(await start({ host: '192.0.2.1', port: 0 }), 'dashboard-not-served'))
  }))

test('closing ends connections that are held open, and frees the port', async () => {
  const start = (port: number) =>
    startDashboardServer({ host: '127.0.0.1', port, ladders: makeLadders([]), clock: systemClock })
  const server = await start(0)
  const port = Number(new URL(server.url).port)
  const held = connect(port, '127.0.0.1')
  const gone = new Promise(resolve => held.once('close', resolve))
  held.on('error', () => {}) // A reset is an end, too.
  await new Promise(resolve => held.once('connect', resolve))
  await server.close()
  await gone
  await (await start(port)).close()
})

test.run()
