/** How the page is used: by keys, in light and dark, while the connection comes and goes, with names that are markup. */
import { existsSync, mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { suite } from '../../support/suite.ts'
import { HOSTILE, toRunReply } from './fixture/replies.ts'
import { type FixtureServer, type Scene, serveFixture } from './fixture/server.ts'
import { Simulation } from './fixture/simulation.ts'
import { childProcesses, isRunning, openBrowser, type TestBrowser } from './open-browser.ts'
import { heard, smallTraining, texts } from './scene.ts'

const test = suite('the page: its use')
const simulation = smallTraining()

let server: FixtureServer
let usual: Scene
let browser: TestBrowser
test.before(async () => {
  server = await serveFixture(simulation)
  usual = { ...server.scene }
  browser = await openBrowser()
})
test.after(async () => {
  await browser?.close()
  await server?.close()
})
test.beforeEach(() => {
  server.mend()
  Object.assign(server.scene, usual)
})

test('the keyboard alone goes past the head, to a tab, and into its view', async () => {
  const { page } = await browser.open(`${server.url}/`)
  await heard(page)
  await page.locator('.tile').first().waitFor()
  await page.keyboard.press('Tab')
  assert.is(await page.evaluate('document.activeElement.textContent'), 'Skip to the view')
  assert.is(await page.evaluate('getComputedStyle(document.activeElement).left'), '8px')
  await page.keyboard.press('Enter')
  assert.is(await page.evaluate('document.activeElement.id'), 'main')
  for (let tries = 0; tries < 20; tries += 1) {
    await page.keyboard.press('Shift+Tab')
    if ((await page.evaluate('document.activeElement.textContent')) === 'Lanes') break
  }
  assert.is.not(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle'), 'none')
  await page.keyboard.press('Enter')
  await page.locator('.lanes canvas').waitFor()
  assert.is(await page.locator('.tabs [aria-current=page]').textContent(), 'Lanes')
  assert.is(await page.title(), 'Lanes – calc')
  await page.close()
})

test('colours follow the system until one is chosen, and the choice stays', async () => {
  const { page } = await browser.open(`${server.url}/`)
  await heard(page)
  const ground = () => page.evaluate('getComputedStyle(document.body).backgroundColor')
  await page.emulateMedia({ colorScheme: 'light' })
  assert.is(await ground(), 'rgb(244, 246, 248)')
  await page.emulateMedia({ colorScheme: 'dark' })
  assert.is(await ground(), 'rgb(17, 22, 27)')
  await page.getByLabel('Colours').selectOption('light')
  assert.is(await ground(), 'rgb(244, 246, 248)')
  await page.reload()
  await heard(page)
  assert.is(await ground(), 'rgb(244, 246, 248)')
  await page.getByLabel('Colours').selectOption('auto')
  await page.close()
})

test('a lost connection is said, tried again, and forgotten when it is back', async () => {
  const { page } = await browser.open(`${server.url}/`)
  await heard(page)
  server.cut()
  await page.getByText('Connection lost.').waitFor()
  assert.match((await texts(page, '.notice'))[0] ?? '', /What is shown is what was last heard\. Trying again in/)
  assert.is(await page.locator('.tile').count(), 8, 'what was heard stays')
  server.mend()
  await page.getByText('Connection lost.').waitFor({ state: 'detached' })
  assert.is(server.listeners, 1)
  await page.close()
})

test('what goes on is seen to change, and a job that ends is said to be over', async () => {
  const { page } = await browser.open(`${server.url}/`)
  await heard(page)
  const runs = page.locator('.progress dd').first()
  const before = await runs.textContent()
  const tick = simulation.tick(2_000)
  server.push({ type: 'tick', ...tick })
  await page.getByText(`${simulation.runs.length} of 640`).waitFor()
  assert.is.not(await runs.textContent(), before)
  assert.match((await page.locator('.badge').textContent()) ?? '', /^Live/)
  server.push({ type: 'tick', ...simulation.tick(250), source: 'over' })
  await page.locator('.badge.over').waitFor()
  assert.match((await page.locator('.badge').textContent()) ?? '', /the job has ended/)
  await page.close()
})

test('names and outputs that are markup are shown as what they are', async () => {
  const state = simulation.state()
  const [first, ...others] = state.runs
  if (first === undefined) throw new Error('the simulation has runs')
  const hostile = { ...first, slug: HOSTILE, error: HOSTILE, reward: null, outcome: 'agent-error' as const }
  server.scene.state = () => ({
    ...state,
    type: 'state',
    job: { ...state.job, name: HOSTILE },
    live: state.live.map(live => ({ ...live, slug: HOSTILE })),
    runs: [...others, hostile],
    groups: state.groups.map(group => ({ ...group, slug: HOSTILE })),
    failures: [
      {
        kind: HOSTILE,
        outcome: 'agent-error',
        count: 1,
        first: { runId: first.runId, slug: HOSTILE, phase: 'agent', message: HOSTILE, at: state.at },
      },
    ],
    problems: [{ at: state.at, kind: HOSTILE, tag: 'x', message: HOSTILE }],
  })
  server.scene.run = () => toRunReply(hostile)
  const { page, complaints } = await browser.open(`${server.url}/`)
  await heard(page)
  for (const hash of ['now', 'lanes', 'groups', 'training', 'failures', 'run', `run/${first.runId}`, 'ladder']) {
    await page.evaluate(`location.hash = '#/${hash}'`)
    await page.locator(hash.startsWith('run/') ? '.turn.grade' : 'main').waitFor()
    assert.is(await page.locator('img').count(), 0, hash)
  }
  assert.is(await page.evaluate('globalThis.broken'), undefined)
  assert.is(await page.locator('h1').textContent(), HOSTILE)
  assert.equal(complaints, [])
  await page.close()
})

test('with nothing to show, each view says what is missing and how to get it', async () => {
  const empty = new Simulation({ width: 0, seed: 1, groupsPerStep: 8 }).state()
  server.scene.state = () => ({
    ...empty,
    type: 'state',
    job: { ...empty.job, source: 'followed' },
    now: { snapshot: null, rate: 0, hitRate: null, cost: null, step: null },
    training: { steps: [], evaluations: [] },
    problems: [],
  })
  server.scene.ladders = { ladders: [], unreadable: [] }
  const { page } = await browser.open(`${server.url}/`)
  await heard(page)
  for (const hash of ['now', 'lanes', 'groups', 'training', 'failures', 'run', 'run/run-0', 'ladder']) {
    await page.evaluate(`location.hash = '#/${hash}'`)
    // What the server must be asked for first is empty a little later.
    await page.locator('.empty', { hasText: /.{50}/s }).first().waitFor()
  }
  await page.close()
})

test('a closed browser leaves no process and no profile, and the next one removes those of tests that were killed', async () => {
  const orphan = join(tmpdir(), 'troupe-browser-4194999-killed')
  mkdirSync(orphan)
  const before = childProcesses()
  const other = await openBrowser()
  const started = [...childProcesses()].filter(pid => !before.has(pid))
  assert.ok(started.length > 2, 'its processes are seen at all')
  assert.ok(existsSync(other.profile))
  assert.not(existsSync(orphan))
  await other.close()
  assert.equal(started.filter(isRunning), [])
  assert.not(existsSync(other.profile))
})

test.run()
