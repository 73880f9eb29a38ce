import { existsSync, statSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { systemClock } from '../../src/clock.ts'
import { hasTag } from '../../src/errors.ts'
import { makeFeedBook } from '../../src/feed/book.ts'
import { openFeedClient } from '../../src/feed/client.ts'
import { makeFeed } from '../../src/feed/feed.ts'
import { feedSocketPath, openFeedSocket } from '../../src/feed/socket.ts'
import { suite } from '../support/suite.ts'
import { firstOf, JOB, NOW, readEvents, runOf, until } from './scene.ts'

const test = suite('feed sockets')

function makeScene() {
  const book = makeFeedBook(JOB)
  return { book, feed: makeFeed({ clock: systemClock, book, now: () => NOW }) }
}

async function inDirectory(body: (directory: string) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'troupe-socket-'))
  try {
    await body(directory)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

test('only its user may connect, it serves the feed and nothing else, and it is gone when it is closed', () =>
  inDirectory(async directory => {
    const { feed, book } = makeScene()
    book.runs.add(runOf())
    const socket = await openFeedSocket(feed, directory)
    assert.is(socket.path, feedSocketPath(directory))
    assert.is(statSync(socket.path).mode & 0o777, 0o600)
    const reader = readEvents('http://localhost/feed', { socketPath: socket.path })
    assert.is(await reader.status, 200)
    await until(() => reader.messages.length > 0)
    assert.is(reader.messages[0]?.runs?.length, 1)
    const other = readEvents('http://localhost/', { socketPath: socket.path })
    assert.is(await other.status, 404)
    await socket.close()
    await socket.close()
    await reader.closed
    assert.is(existsSync(socket.path), false)
    assert.is(feed.isWatched(), false, 'a reader that was cut watches no more')
    await feed.close()
  }))

test('what a killed process has left there is replaced, whatever it is', () =>
  inDirectory(async directory => {
    await writeFile(feedSocketPath(directory), 'left')
    const { feed } = makeScene()
    const socket = await openFeedSocket(feed, directory)
    const client = openFeedClient(socket.path, { giveUpMs: 0 })
    assert.is(await firstOf(client, message => message.type), 'state')
    await socket.close()
  }))

test('a path that is too long for a socket, or a directory that is not there, is told and harms nobody', () =>
  inDirectory(async directory => {
    const { feed } = makeScene()
    const long = join(directory, 'x'.repeat(100))
    await mkdir(long)
    const refused = await openFeedSocket(feed, long).catch((error: unknown) => error)
    assert.ok(hasTag(refused, 'feed-socket-path-too-long'))
    assert.match(refused.message, 'shorter --journal')
    const missing = await openFeedSocket(feed, join(directory, 'missing')).catch((error: unknown) => error)
    assert.ok(hasTag(missing, 'feed-socket-not-opened'))
  }))

test('a client goes on where the connection breaks, with a new state, and ends when the job is over', () =>
  inDirectory(async directory => {
    const { feed, book } = makeScene()
    let socket = await openFeedSocket(feed, directory)
    const client = openFeedClient(socket.path)
    const told: string[] = []
    const reading = (async () => {
      for await (const message of client) told.push(message.type === 'state' ? `state ${message.runs.length}` : 'tick')
    })()
    await until(() => told.includes('state 0'))
    await socket.close()
    book.runs.add(runOf())
    socket = await openFeedSocket(feed, directory)
    await until(() => told.includes('state 1'))
    book.setSource('over')
    feed.flush()
    await socket.close()
    await reading
    await feed.close()
  }))

test('a client that reaches nobody gives up in time and says what to do, and one that is aborted ends without an error', () =>
  inDirectory(async directory => {
    const nobody = openFeedClient(feedSocketPath(directory), { giveUpMs: 0 })
    const error = await nobody.next().catch((thrown: unknown) => thrown)
    assert.ok(hasTag(error, 'feed-unreachable'))
    assert.match(error.message, 'troupe runs')
    const { feed } = makeScene()
    const socket = await openFeedSocket(feed, directory)
    const leaving = new AbortController()
    const client = openFeedClient(socket.path, { signal: leaving.signal })
    assert.is((await client.next()).value?.type, 'state')
    const next = client.next()
    leaving.abort()
    let end = await next
    while (end.done !== true) end = await client.next()
    await socket.close()
    await feed.close()
  }))

test('a message that is cut anywhere is put together again', async () => {
  const { makeEventParser } = await import('../../src/feed/parse.ts')
  const text = ': hello\n\nretry: 5\n\ndata: {"a":1}\n\nid: 4\ndata: one\ndata: two\n\ndata:x\n\n'
  for (let cut = 0; cut <= text.length; cut += 1)
    for (const second of [cut, Math.min(text.length, cut + 1)]) {
      const parser = makeEventParser()
      const pieces = [text.slice(0, cut), text.slice(cut, second), text.slice(second)]
      assert.equal(
        pieces.flatMap(piece => parser.push(piece)),
        ['{"a":1}', 'one\ntwo', 'x'],
        `cut at ${cut}`,
      )
    }
})

test.run()
