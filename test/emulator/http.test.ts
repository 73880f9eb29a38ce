/** The wire itself, where the SDK hides it or cannot reach: errors, limits, faults, events. */
import * as assert from 'uvu/assert'
import { WebSocket } from 'ws'
import { suite } from '../support/suite.ts'
import { call, create, until, withEmulator } from './support/http.ts'

const test = suite('emulator over HTTP')

test('a wrong key is refused in the provider’s shape', () =>
  withEmulator({}, async emulator => {
    const answer = await fetch(`${emulator.url}/sandbox`, { headers: { authorization: 'Bearer wrong' } })
    const { timestamp, ...error } = (await answer.json()) as Record<string, unknown>
    assert.is(answer.status, 401)
    assert.equal(error, {
      path: '/api/sandbox',
      statusCode: 401,
      error: 'Unauthorized',
      message: 'Invalid credentials',
    })
    assert.ok(Number.isFinite(Date.parse(String(timestamp))))
  }))

test('bad input: a region, a snapshot and a quota that are not there', () =>
  withEmulator({ quota: { cpu: 2, memory: 99, disk: 99 } }, async emulator => {
    assert.is((await create(emulator, { target: 'moon' })).status, 403)
    assert.match(String((await create(emulator, { snapshot: 'none' })).body.message), /Snapshot none not found/)
    assert.is((await create(emulator, { labels: { a: 1 } })).status, 400)
    assert.equal([(await create(emulator)).status, (await create(emulator)).status], [200, 200])
    const { status, body } = await create(emulator)
    assert.is(status, 400)
    assert.is(body.message, 'Total CPU limit exceeded. Maximum allowed: 2.')
  }))

test('creates beyond the limit get 429 with both forms of Retry-After', () =>
  withEmulator({ speed: 1, limits: { 'sandbox-create': 1 } }, async emulator => {
    const first = await create(emulator)
    assert.is(first.headers.get('x-ratelimit-remaining-sandbox-create'), '0')
    const { status, headers } = await create(emulator)
    assert.is(status, 429)
    assert.ok(Number(headers.get('retry-after')) > 50)
    assert.is(headers.get('retry-after-sandbox-create'), headers.get('retry-after'))
    assert.is(emulator.counts.created, 1)
  }))

test('a create whose connection is reset has made its sandbox, which is found by its labels', () =>
  withEmulator({}, async emulator => {
    emulator.faults.set({ kind: 'reset-create', next: 1 })
    const failed = await create(emulator, { name: 'orphan', labels: { owner: 'me' } }).then(
      () => 'answered',
      () => 'reset',
    )
    assert.is(failed, 'reset')
    const { body } = await call(emulator, 'GET', `/api/sandbox?labels=${encodeURIComponent('{"owner":"me"}')}`)
    assert.equal(
      (body.items as { name: string }[]).map(({ name }) => name),
      ['orphan'],
    )
  }))

test('faults are set and cleared from outside, and every sandbox is counted', () =>
  withEmulator({}, async emulator => {
    const set = await call(emulator, 'POST', '/emulator/faults', { kind: 'too-many-requests', next: 1 })
    assert.is(set.status, 200)
    const refused = await create(emulator)
    assert.equal([refused.status, refused.headers.get('retry-after')], [429, '1'])
    await call(emulator, 'POST', '/emulator/faults', { kind: 'server-error', share: 1 })
    assert.ok((await create(emulator)).status >= 500)
    await call(emulator, 'DELETE', '/emulator/faults')
    await call(emulator, 'POST', '/emulator/faults', { kind: 'lost', next: 1 })
    await create(emulator)
    const state = async () => (await call(emulator, 'GET', '/emulator/state')).body
    await until(async () => (await state()).failed === 1)
    const { created, existing, states, struck } = await state()
    assert.equal({ created, existing, states }, { created: 1, existing: 1, states: { error: 1 } })
    assert.equal(struck, { 'too-many-requests': 1, 'server-error': 1, lost: 1 })
  }))

test('a delete that is stuck stays destroying', () =>
  withEmulator({}, async emulator => {
    emulator.faults.set({ kind: 'stuck-deleting', next: 1 })
    const { body } = await create(emulator)
    await call(emulator, 'DELETE', `/api/sandbox/${body.id}`)
    await call(emulator, 'DELETE', `/api/sandbox/${body.id}`)
    const other = (await create(emulator)).body
    await call(emulator, 'DELETE', `/api/sandbox/${other.id}`)
    await until(async () => (await call(emulator, 'GET', `/api/sandbox/${other.id}`)).status === 404)
    assert.is((await call(emulator, 'GET', `/api/sandbox/${body.id}`)).body.state, 'destroying')
  }))

test('the feed shakes hands, wants the key, and tells of every state', () =>
  withEmulator({}, async emulator => {
    const open = (token: string) => {
      const socket = new WebSocket(`${emulator.url.replace('http', 'ws')}/socket.io/?EIO=4&transport=websocket`)
      const frames: string[] = []
      socket.on('message', data => {
        const frame = String(data)
        frames.push(frame)
        if (frame.startsWith('0')) socket.send(`40${JSON.stringify({ token })}`)
      })
      return { socket, frames, closed: new Promise(resolve => socket.on('close', resolve)) }
    }
    const stranger = open('wrong')
    await stranger.closed
    assert.match(stranger.frames[1] ?? '', /^44/)
    const { socket, frames, closed } = open(emulator.apiKey)
    await until(async () => {
      await call(emulator, 'GET', '/emulator/state')
      return frames.length === 2
    })
    const { id } = (await create(emulator)).body
    await until(async () => (await call(emulator, 'GET', `/api/sandbox/${id}`)).body.state === 'started')
    const told = frames.slice(2).map(frame => {
      const [name, { newState }] = JSON.parse(frame.slice(2)) as [string, { newState?: string }]
      return [name, newState]
    })
    assert.equal(told, [
      ['sandbox.created', undefined],
      ['sandbox.state.updated', 'started'],
    ])
    socket.close()
    await closed
  }))

test('the log of a build is read while it grows', () =>
  withEmulator({}, async emulator => {
    const buildInfo = { dockerfileContent: 'FROM node:22\nCOPY a /a\n', contextHashes: [] }
    const { body } = await call(emulator, 'POST', '/api/snapshots', { name: 'one', buildInfo })
    const { url } = (await call(emulator, 'GET', `/api/snapshots/${body.id}/build-logs-url`)).body
    const log = (await call(emulator, 'GET', `${url}?follow=true`)).body.text
    assert.match(String(log), /Step 2\/2 : COPY a \/a\nERROR: COPY a \/a: a: file not found in the build context/)
    assert.is((await call(emulator, 'GET', '/api/snapshots/one')).body.state, 'build_failed')
  }))

test.run()
