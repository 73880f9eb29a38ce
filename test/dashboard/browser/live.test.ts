/** The page over the real engine: `troupe train --dashboard`, 256 rollouts wide, every view looked at while it runs. Pictures go to test-artifacts/dashboard. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import * as assert from 'uvu/assert'
import { z } from 'zod'
import { TABS } from '../../../src/dashboard/page/route.ts'
import { program } from '../../support/cli.ts'
import { tellFigures } from '../../support/figures.ts'
import { repository } from '../../support/source-imports.ts'
import { suite } from '../../support/suite.ts'
import { DESKTOP, NARROW, openBrowser, type TestBrowser } from './open-browser.ts'
import { heard, overflow } from './scene.ts'

const test = suite('the page: live')
const PICTURES = join(repository, 'test-artifacts/dashboard')
const WIDTH = 256

let directory: string
let browser: TestBrowser
let engine: ChildProcess
test.before(async () => {
  await mkdir(PICTURES, { recursive: true })
  directory = await mkdtemp(join(tmpdir(), 'troupe-live-'))
  browser = await openBrowser()
})
test.after(async () => {
  await browser?.close()
  await end(engine)
  if (directory !== undefined) await rm(directory, { recursive: true, force: true })
})

test(
  `${WIDTH} live rollouts: every view, wide and narrow, without an error and without falling behind`,
  async () => {
    engine = startTraining()
    const url = await urlOf(engine)
    const { page, complaints } = await browser.open(url)
    await page.addInitScript(`globalThis.long = [];
      new PerformanceObserver(list => long.push(...list.getEntries().map(({ duration }) => duration))).observe({ type: 'longtask' })`)
    await page.reload()
    await heard(page)
    // Before the job begins there is none to tell of, and the page asks again.
    assert.equal(
      complaints.splice(0).filter(text => !text.includes('503')),
      [],
    )
    await page.getByText(`at most ${WIDTH} at once`).waitFor({ timeout: 60_000 })
    // A run is read as soon as one has ended, and the curve has a point with the first step.
    await page.goto(`${url}#/training`)
    await page.locator('.plot canvas').first().waitFor({ timeout: 90_000 })
    for (const [name, viewport] of [
      ['wide', DESKTOP],
      ['narrow', NARROW],
    ] as const) {
      await page.setViewportSize(viewport)
      // Of workers a job on one machine has nothing to show.
      for (const { id } of TABS.filter(tab => tab.id !== 'workers')) {
        await show(page, url, id)
        assert.is(await overflow(page), 0, `${id} is wider than the window`)
        await page.screenshot({ path: join(PICTURES, `${id}-${name}.png`), fullPage: true })
      }
    }
    assert.match((await page.locator('.badge').textContent()) ?? '', /^Live/, 'it ran all the time')
    assert.equal(complaints, [])
    const found = await page.evaluate(`({ long, ...Object.fromEntries(['hear', 'show', 'lanes'].map(name =>
      [name, performance.getEntriesByName(name).map(({ duration }) => duration)])) })`)
    const {
      long = [],
      hear = [],
      show: shown = [],
      lanes = [],
    } = z.record(z.string(), z.array(z.number())).parse(found)
    assert.ok(hear.length > 10, 'it was told of again and again')
    const mean = (values: readonly number[]) =>
      (values.reduce((sum, each) => sum + each, 0) / Math.max(1, values.length)).toFixed(1)
    assert.ok(Number(mean(shown)) < 100)
    tellFigures(
      `${WIDTH} live rollouts: ${hear.length} messages, mean ${mean(hear)} ms to hear, ${mean(shown)} to show, ${mean(lanes)} to draw lanes; ${long.length} tasks over 50 ms, the longest ${Math.max(0, ...long).toFixed(0)} ms`,
    )
    await page.close()
  },
  { deadlineMs: 220_000 },
)

async function show(page: Page, url: string, id: string): Promise<void> {
  await page.goto(`${url}#/${id}`)
  await heard(page)
  if (id === 'run') {
    await page.locator('tbody a').first().click()
    await page.locator('.turn.grade').waitFor()
  }
  const marks: Readonly<Record<string, string>> = {
    training: '.plot canvas',
    ladder: '.plot canvas',
    lanes: '.lanes canvas[data-boxes]',
  }
  await page
    .locator(marks[id] ?? 'main')
    .first()
    .waitFor()
}

function startTraining(): ChildProcess {
  const argv = ['train', join(repository, 'environments/arith'), '--group', '16', '--max-concurrent', String(WIDTH)]
  const rest = [
    '--steps',
    '400',
    '--max-policy-lag',
    '1',
    '--no-eval',
    '--seed',
    '1',
    '--dashboard',
    '0',
    '--price',
    '0.00002',
  ]
  const kept = ['--journal', join(directory, 'journal'), '--out', directory]
  return spawn(process.execPath, [program, ...argv, ...rest, ...kept], {
    cwd: repository,
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, HUD_TELEMETRY_ENABLED: 'false', NO_COLOR: '1' },
  })
}

/** As it says on stderr. */
function urlOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let told = ''
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      told += text
      const [url] = /http:\/\/127\.0\.0\.1:\d+\//.exec(told) ?? []
      if (url !== undefined) resolve(url)
    })
    child.once('close', code => reject(new Error(`it ended with ${code}: ${told}`)))
  })
}

/** In order, as Ctrl-C does. */
async function end(child: ChildProcess | undefined): Promise<void> {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
  const closed = new Promise(resolve => child.once('close', resolve))
  child.kill('SIGINT')
  await closed
}

test.run()
