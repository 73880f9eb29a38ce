/** Each view in a real browser, wide and narrow, light and dark: who can use it, and whether it fits. */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { TABS } from '../../../src/dashboard/page/route.ts'
import { repository } from '../../support/source-imports.ts'
import { suite } from '../../support/suite.ts'
import { findViolations } from './axe.ts'
import { type FixtureServer, serveFixture } from './fixture/server.ts'
import { toWorkers } from './fixture/workers.ts'
import { DESKTOP, NARROW, openBrowser, type TestBrowser } from './open-browser.ts'
import { brokenWords, overflow, ready, smallTraining } from './scene.ts'

const test = suite('the page: its looks')
const PICTURES = join(repository, 'test-artifacts/dashboard/fixture')
const simulation = smallTraining()
const SLOW = { deadlineMs: 110_000 }

let server: FixtureServer
let browser: TestBrowser
test.before(async () => {
  await mkdir(PICTURES, { recursive: true })
  server = await serveFixture(simulation)
  server.scene.state = () => ({ type: 'state', ...simulation.state(), workers: toWorkers(200, simulation.at) })
  browser = await openBrowser()
})
test.after(async () => {
  await browser?.close()
  await server?.close()
})

const addressOf = (id: string) => `${server.url}/#/${id === 'run' ? `run/${simulation.runs.at(-1)?.runId}` : id}`

test(
  'every view, wide: nothing to complain of for axe in light and dark, no sideways scrolling, no error, no foreign request',
  async () => {
    const { page, complaints } = await browser.open(server.url, DESKTOP)
    for (const { id, name } of TABS) {
      await page.emulateMedia({ colorScheme: 'light' })
      await page.goto(addressOf(id))
      await ready(page, id)
      assert.is(await overflow(page), 0, `${name} is wider than the window`)
      assert.equal(await findViolations(page), [], `${name}, light`)
      await page.screenshot({ path: join(PICTURES, `${id}-wide-light.png`), fullPage: true })
      await page.emulateMedia({ colorScheme: 'dark' })
      assert.equal(await findViolations(page, 'color-contrast'), [], `${name}, dark`)
      await page.screenshot({ path: join(PICTURES, `${id}-wide-dark.png`), fullPage: true })
    }
    assert.equal(complaints, [])
    await page.close()
  },
  SLOW,
)

test(
  'every view, narrow: no sideways scrolling, what scrolls is reached by keys, no error',
  async () => {
    const { page, complaints } = await browser.open(server.url, NARROW)
    for (const { id, name } of TABS) {
      await page.goto(addressOf(id))
      await ready(page, id)
      assert.is(await overflow(page), 0, `${name} is wider than the window`)
      assert.equal(await findViolations(page, 'scrollable-region-focusable'), [], name)
      assert.equal(await brokenWords(page), [], name)
      await page.screenshot({ path: join(PICTURES, `${id}-narrow-light.png`), fullPage: true })
    }
    assert.equal(complaints, [])
    await page.close()
  },
  SLOW,
)

test.run()
