import * as assert from 'uvu/assert'
import { createPlatformReporter } from '../../src/platform/reporter.ts'
import { isReportingAsked, platformAddresses } from '../../src/platform/settings.ts'
import { suite } from '../support/suite.ts'
import { assertThrows } from './support/assert-throws.ts'

const test = suite('platform settings')

test("without a word it is HUD's own platform", () => {
  assert.equal(platformAddresses({ env: {} }), {
    apiUrl: 'https://api.hud.ai',
    telemetryUrl: 'https://telemetry.hud.ai/v3/api',
    webUrl: 'https://hud.ai',
  })
})

test("a key for another server is not sent to HUD's own: its telemetry is looked for there, too", () => {
  const env = { HUD_API_URL: 'http://127.0.0.1:9/' }
  assert.equal(platformAddresses({ env }), {
    apiUrl: 'http://127.0.0.1:9',
    telemetryUrl: 'http://127.0.0.1:9/v3/api',
    webUrl: 'http://127.0.0.1:9',
  })
  const telemetry = { ...env, HUD_TELEMETRY_URL: 'http://127.0.0.1:8/t/' }
  assert.is(platformAddresses({ env: telemetry }).telemetryUrl, 'http://127.0.0.1:8/t')
  assert.is(platformAddresses({ env, apiUrl: 'http://127.0.0.1:7' }).telemetryUrl, 'http://127.0.0.1:7/v3/api')
})

test('what is no address of a server is refused by the name of its variable', () => {
  for (const text of ['api.hud.ai', 'ftp://api.hud.ai', ':']) {
    const error = assertThrows(() => platformAddresses({ env: { HUD_API_URL: text } }))
    assert.is(error.tag, 'bad-platform-url')
    assert.match(error.message, `HUD_API_URL is "${text}"`)
  }
})

test('commands report with a key, unless HUD_TELEMETRY_ENABLED says no in any of the words that HUD knows', () => {
  assert.not.ok(isReportingAsked({}))
  assert.not.ok(isReportingAsked({ HUD_API_KEY: '  ' }))
  assert.ok(isReportingAsked({ HUD_API_KEY: 'a-key' }))
  for (const word of ['true', '1', 'yes', ''])
    assert.ok(isReportingAsked({ HUD_API_KEY: 'a-key', HUD_TELEMETRY_ENABLED: word }), word)
  for (const word of ['false', 'False', '0', 'no', 'off', 'f', 'n'])
    assert.not.ok(isReportingAsked({ HUD_API_KEY: 'a-key', HUD_TELEMETRY_ENABLED: word }), word)
})

test('a reporter without a key is refused when it is made', () => {
  const error = assertThrows(() => createPlatformReporter({ env: {} }))
  assert.is(error.tag, 'no-key')
  assert.match(error.message, /Set HUD_API_KEY/)
})

test.run()
