/** How calls to the provider fail, wait and are made again. */
import * as assert from 'uvu/assert'
import { systemClock } from '../../../../src/clock.ts'
import { makeFasterClock } from '../../../../src/emulator/faster-clock.ts'
import { type ErrorData, toErrorData } from '../../../../src/errors.ts'
import type { Account } from '../../../../src/runtimes/daytona/account/account.ts'
import { callDaytona } from '../../../../src/runtimes/daytona/account/call.ts'
import { openAccount } from '../../../../src/runtimes/daytona/account/open-account.ts'
import { suite } from '../../../support/suite.ts'
import { failure } from '../../../wire/support/failure.ts'
import { type Reply, type Seen, withProvider } from '../fake-provider.ts'

const test = suite('daytona calls')
const KEY = 'dtn_nobody-may-see-this'

function withAccount(
  replies: readonly Reply[],
  body: (account: Account, seen: readonly Seen[]) => Promise<void>,
): Promise<void> {
  return withProvider(replies, async (apiUrl, seen) => {
    const account = await openAccount({ apiUrl, apiKey: KEY, clock: makeFasterClock(systemClock, 50) })
    try {
      await body(account, seen)
    } finally {
      await account.release()
    }
  })
}

const get = (account: Account) => callDaytona('look at x', () => account.sandboxes.getSandbox('x'))
const create = (account: Account) => callDaytona('create x', () => account.sandboxes.createSandbox({ name: 'x' }))
const refuse = (status: number, message: unknown = 'no', headers: Record<string, string> = {}): Reply => ({
  status,
  headers,
  body: { statusCode: status, message },
})

const KINDS: readonly [status: number, message: unknown, tag: string, transient: boolean | undefined][] = [
  [400, 'name must be a string', 'daytona-bad-request', undefined],
  [400, ['name must be a string', 'cpu must be positive'], 'daytona-bad-request', undefined],
  [400, 'Total CPU limit exceeded. Maximum allowed: 10.', 'daytona-quota', undefined],
  [401, 'Invalid credentials', 'daytona-unauthorized', undefined],
  [403, 'Organization is suspended', 'daytona-forbidden', undefined],
  [404, 'Sandbox x not found', 'daytona-not-found', undefined],
  [409, 'Sandbox is busy', 'daytona-conflict', undefined],
  [422, 'unprocessable', 'daytona-bad-request', undefined],
  [429, 'ThrottlerException: Too Many Requests', 'daytona-rate-limited', true],
  [500, 'Internal server error', 'daytona-server-error', true],
  [501, 'Not implemented', 'daytona-not-implemented', undefined],
  [503, 'Unavailable', 'daytona-server-error', true],
]

for (const [status, message, tag, transient] of KINDS)
  test(`${status} "${message}" is ${tag}, in the provider's own words`, () =>
    withAccount([refuse(status, message)], async account => {
      const error = await failure(create(account))
      assert.is(error.tag, tag)
      assert.is(error.data.transient, transient)
      assert.ok(error.message.startsWith('cannot create x: '))
      for (const words of [message].flat()) assert.ok(error.message.includes(String(words)), error.message)
    }))

test('a page is not pasted, a redirect is not followed, and neither is the key shown anywhere', () =>
  withAccount(
    [
      { status: 502, body: '<html><body>502 Bad Gateway</body></html>' },
      { status: 302, headers: { location: 'https://elsewhere.example/api' } },
      refuse(401),
    ],
    async account => {
      const page = await failure(create(account))
      assert.is(page.tag, 'daytona-server-error')
      assert.not.match(page.message, /html/)
      const redirect = await failure(create(account))
      assert.is(redirect.tag, 'daytona-redirected')
      assert.match(redirect.message, /elsewhere\.example/)
      const refused = await failure(create(account))
      for (const error of [page, redirect, refused]) assert.not.ok(showAll(error).includes(KEY))
    },
  ))

test('who cannot be reached is told where it was tried', async () => {
  const account = await openAccount({
    apiUrl: 'http://127.0.0.1:1/api',
    apiKey: KEY,
    clock: makeFasterClock(systemClock, 50),
  })
  const error = await failure(create(account))
  await account.release()
  assert.is(error.tag, 'daytona-unreachable')
  assert.is(error.data.transient, true)
  assert.match(error.message, /127\.0\.0\.1:1 .*DAYTONA_API_URL/)
  assert.is(error.data.details?.code, 'ECONNREFUSED')
})

test('Retry-After is read as seconds, as a date by the provider’s own clock, and per throttler', async () => {
  const date = 'Wed, 21 Oct 2026 07:28:00 GMT'
  const in7s = 'Wed, 21 Oct 2026 07:28:07 GMT'
  const forms: readonly [headers: Record<string, string>, ms: number | undefined][] = [
    [{ 'retry-after': '3' }, 3_000],
    [{ 'Retry-After-sandbox-create': '9', 'Retry-After': '3' }, 9_000],
    [{ 'Retry-After': in7s, date }, 7_000],
    [{ 'retry-after-authenticated': in7s, 'retry-after-sandbox-create': '2', date }, 7_000],
    [{}, undefined],
    [{ 'retry-after': 'soon' }, undefined],
  ]
  for (const [headers, ms] of forms)
    await withAccount([refuse(429, 'no', headers)], async account => {
      const { details = {} } = (await failure(create(account))).data
      assert.is(details.retryAfterMs, ms, JSON.stringify(headers))
    })
})

test('a 429 to a create holds up every create of the account, and the create itself is not made again', () =>
  withAccount([refuse(429, 'no', { 'retry-after-sandbox-create': '30' })], async (account, seen) => {
    await failure(create(account))
    assert.is(seen.length, 1)
    const { clock, creates } = account
    assert.not.ok(creates.take(clock.now()))
    const waitMs = creates.nextAt(clock.now()) - clock.now()
    assert.ok(waitMs > 25_000 && waitMs <= 30_000, String(waitMs))
  }))

test('what answers say is left of the limit on creates is believed, whichever way the end of the window is told', async () => {
  const windows: readonly string[] = ['40', String(Math.floor(Date.now() / 1_000) + 40), String(Date.now() + 40_000)]
  for (const reset of windows)
    await withAccount(
      [
        {
          status: 200,
          headers: { 'X-RateLimit-Remaining-sandbox-create': '2', 'X-RateLimit-Reset-sandbox-create': reset },
          body: { id: 'x', state: 'started' },
        },
      ],
      async account => {
        await get(account)
        const { clock, creates } = account
        assert.equal(
          [1, 2, 3].map(() => creates.take(clock.now())),
          [true, true, false],
        )
        const waitMs = creates.nextAt(clock.now()) - clock.now()
        assert.ok(waitMs > 30_000 && waitMs < 42_000, `${reset}: ${waitMs}`)
      },
    )
})

test('a look, a label and a delete are made again after a cut socket, a fault or a 429; a create is not', async () => {
  const troubles: readonly Reply[] = ['cut', refuse(503), refuse(429, 'no', { 'retry-after': '1' })]
  const calls: readonly ((account: Account) => Promise<unknown>)[] = [
    get,
    account => callDaytona('delete x', () => account.sandboxes.deleteSandbox('x')),
    account => callDaytona('label x', () => account.sandboxes.replaceLabels('x', { labels: {} })),
  ]
  for (const trouble of troubles) {
    for (const call of calls)
      await withAccount([trouble, trouble, { status: 200, body: { id: 'x' } }], async (account, seen) => {
        await call(account)
        assert.is(seen.length, 3)
      })
    await withAccount([trouble, { status: 200 }], async (account, seen) => {
      await failure(create(account))
      assert.is(seen.length, 1)
    })
  }
})

test('a call that is not made again any more says what the last one said', () =>
  withAccount([refuse(503), refuse(500), refuse(503, 'still down')], async (account, seen) => {
    assert.match((await failure(get(account))).message, /still down/)
    assert.is(seen.length, 3)
  }))

test('a signal ends the call with its own reason, while it waits to be made again, too', () =>
  withAccount([refuse(429, 'no', { 'retry-after': '60' })], async account => {
    const controller = new AbortController()
    const call = callDaytona('look at x', () =>
      account.sandboxes.getSandbox('x', undefined, undefined, { signal: controller.signal }),
    )
    setTimeout(() => controller.abort(new Error('enough')), 50)
    assert.is(await call.catch((error: unknown) => toErrorData(error).message), 'enough')
  }))

/** All that a log might print of it. */
function showAll(error: Error & { readonly data: ErrorData }): string {
  const seen = new Set<unknown>()
  const show = (value: unknown): string => {
    if (typeof value !== 'object' || value === null) return String(value)
    if (seen.has(value)) return ''
    seen.add(value)
    return Object.getOwnPropertyNames(value)
      .map(name => show(Reflect.get(value, name)))
      .join('\n')
  }
  return show(error)
}

test.run()
