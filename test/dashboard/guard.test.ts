import * as assert from 'uvu/assert'
import { makeGuard } from '../../src/dashboard/guard.ts'
import { chooseToken, DASHBOARD_TOKEN_VARIABLE, takeDashboardToken } from '../../src/dashboard/token.ts'
import { hasTag } from '../../src/errors.ts'
import { suite } from '../support/suite.ts'

const test = suite('dashboard guard')
const TOKEN = 'a-token-of-more-than-16'

test('without a token nothing but a name of this machine is answered to', () => {
  const { refuse } = makeGuard(undefined)
  for (const host of ['localhost', 'localhost:4310', 'LOCALHOST:1', '127.0.0.1:80', '127.1.2.3', '[::1]:4310', '[::1]'])
    assert.is(refuse({ host }, '/feed'), undefined, host)
  for (const host of [
    'evil.example',
    'evil.example:4310',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    '',
    '0.0.0.0:1',
    '[::1',
  ])
    assert.is(refuse({ host }, '/feed')?.tag, 'foreign-host', host)
  assert.is(refuse({}, '/')?.tag, 'foreign-host')
})

test("another site's page may lead here and ask for nothing", () => {
  const { refuse } = makeGuard(undefined)
  const host = '127.0.0.1:1'
  const from = (site: string, mode: string, dest: string, path: string) =>
    refuse({ host, 'sec-fetch-site': site, 'sec-fetch-mode': mode, 'sec-fetch-dest': dest }, path)?.tag
  assert.is(from('cross-site', 'navigate', 'document', '/'), undefined)
  assert.is(from('same-origin', 'cors', 'empty', '/feed'), undefined)
  assert.is(from('none', 'navigate', 'document', '/runs/x'), undefined)
  for (const site of ['cross-site', 'same-site']) {
    assert.is(from(site, 'no-cors', 'script', '/feed'), 'foreign-site')
    assert.is(from(site, 'navigate', 'iframe', '/'), 'foreign-site')
    assert.is(from(site, 'navigate', 'document', '/runs/x'), 'foreign-site')
  }
})

test('with a token whoever shows it comes in under any name, by a header or by the cookie it was given', () => {
  const { enter, refuse } = makeGuard(TOKEN)
  const host = 'lab.example:4310'
  assert.is(refuse({ host }, '/')?.tag, 'dashboard-token-wanted')
  assert.is(refuse({ host, authorization: `Bearer ${TOKEN}` }, '/'), undefined)
  assert.is(refuse({ host, authorization: `Bearer ${TOKEN}x` }, '/')?.tag, 'dashboard-token-wanted')
  assert.is(enter('another'), undefined)
  const set = enter(TOKEN) ?? ''
  assert.match(set, /; HttpOnly; SameSite=Strict$/)
  assert.not.match(set, TOKEN)
  const [cookie = ''] = set.split(';')
  assert.is(refuse({ host, cookie: `other=1; ${cookie}; more=2` }, '/'), undefined)
  assert.is(refuse({ host, cookie: cookie.replace(/.$/, '') }, '/')?.tag, 'dashboard-token-wanted')
  const [name] = cookie.split('=')
  assert.is(refuse({ host, cookie: `${name}=${TOKEN}` }, '/')?.tag, 'dashboard-token-wanted')
  assert.is(makeGuard('another-token-of-more').refuse({ host, cookie }, '/')?.tag, 'dashboard-token-wanted')
})

test('beyond loopback there is always a token, and one that can be guessed is refused', () => {
  assert.is(chooseToken('127.0.0.1', undefined), undefined)
  assert.is(chooseToken('localhost', TOKEN), TOKEN)
  assert.match(chooseToken('0.0.0.0', undefined) ?? '', /^[0-9a-f]{32}$/)
  assert.match(chooseToken('lab.example', '') ?? '', /^[0-9a-f]{32}$/)
  try {
    chooseToken('0.0.0.0', 'short')
    assert.unreachable()
  } catch (error) {
    assert.ok(hasTag(error, 'dashboard-token-short'))
  }
  const variables = { [DASHBOARD_TOKEN_VARIABLE]: TOKEN }
  assert.is(takeDashboardToken('0.0.0.0', variables), TOKEN)
  assert.equal(Object.keys(variables), [], 'what the command starts does not inherit it')
})

test.run()
