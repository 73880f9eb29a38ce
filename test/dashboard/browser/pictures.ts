/** Makes the pictures of docs/dashboard.md anew, from the fixture: `npm run build && node dist/test/dashboard/browser/pictures.js`. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { repository } from '../../support/source-imports.ts'
import { serveFixture } from './fixture/server.ts'
import { Simulation } from './fixture/simulation.ts'
import { openBrowser } from './open-browser.ts'
import { heard, letPass } from './scene.ts'

const PLACE = join(repository, 'docs/images')
const PICTURES = [
  { name: 'dashboard-lanes.webp', hash: '#/lanes', dark: false, ready: '.lanes canvas[data-boxes]' },
  { name: 'dashboard-now.webp', hash: '#/now', dark: true, ready: '.tile' },
] as const

const simulation = letPass(new Simulation({ width: 128, seed: 4, groupsPerStep: 24 }), 50_000)
const server = await serveFixture(simulation)
const browser = await openBrowser()
try {
  await mkdir(PLACE, { recursive: true })
  const { page } = await browser.open(server.url, { width: 1280, height: 1000 })
  for (const { name, hash, dark, ready } of PICTURES) {
    await page.emulateMedia({ colorScheme: dark ? 'dark' : 'light' })
    await page.goto(`${server.url}/${hash}`)
    await heard(page)
    await page.locator(ready).first().waitFor()
    // So that the small lines have something to tell.
    for (let count = 0; count < 40; count += 1) server.push({ type: 'tick', ...simulation.tick(500) })
    await page.getByText(`${simulation.live.size} rollouts under way`).first().waitFor()
    const bytes = await picture(page)
    await writeFile(join(PLACE, name), bytes)
    console.log(`${name}: ${Math.round(bytes.length / 1024)} KiB`)
  }
} finally {
  await browser.close()
  await server.close()
}

/** As WebP, which the browser's own protocol can do and playwright's screenshots cannot. */
async function picture(page: Page): Promise<Buffer> {
  const session = await page.context().newCDPSession(page)
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: 82 })
  return Buffer.from(data, 'base64')
}
