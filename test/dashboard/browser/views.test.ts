/** Each view in a real browser, with the values of the feed that it was told. */
import * as assert from 'uvu/assert'
import { suite } from '../../support/suite.ts'
import { type FixtureServer, serveFixture } from './fixture/server.ts'
import { GROUP_SIZE } from './fixture/simulation.ts'
import { toWorkers } from './fixture/workers.ts'
import { openBrowser, type TestBrowser } from './open-browser.ts'
import { chartData, ready, smallTraining, tableUnder, texts } from './scene.ts'

const test = suite('the page: views')
const simulation = smallTraining()
const ended = simulation.runs.at(-1)

let server: FixtureServer
let browser: TestBrowser
test.before(async () => {
  server = await serveFixture(simulation)
  browser = await openBrowser()
})
test.after(async () => {
  await browser?.close()
  await server?.close()
})

const at = (hash: string) => `${server.url}/${hash}`

test('Now shows the figures of the moment', async () => {
  const { page } = await browser.open(at('#/now'))
  await ready(page, 'now')
  const { now } = simulation.state()
  const tile = async (name: string) => {
    const [found] = await texts(page, `.tile:has(dt:text-is("${name}")) .figure`)
    return found
  }
  assert.is(await tile('Rollouts in flight'), '32 of 32')
  assert.is(await tile('Pool, ready'), '11 of 16')
  assert.is(await tile('Pool, leased'), '32')
  assert.is(await tile('Warm hits'), `${((now.hitRate ?? 0) * 100).toFixed(1)} %`)
  assert.is(await tile('Credits in use'), '32 of 32')
  assert.is(await tile('Rollouts ended'), `${now.rate.toFixed(1)} / s`)
  assert.is(await tile('Loop delay, p99'), '11.5 ms')
  assert.is(await tile('Cost so far'), `${(simulation.runs.length * 0.0021).toFixed(4)} USD`)
  assert.match((await texts(page, '.progress')).join(), `Runs ${simulation.runs.length} of 640`)
  const phases = (await texts(page, '.panel .legend li')).map(text => Number(text.split(' ')[1]))
  assert.is(
    phases.reduce((sum, each) => sum + each, 0),
    32,
  )
  const rows = await tableUnder(page, 'Trends: the table')
  assert.equal(rows[0]?.slice(1, 4), ['32', '32', '11'])
  await page.close()
})

test('Lanes names stragglers, and opens the rollout that the arrow keys or the pointer find', async () => {
  const { page } = await browser.open(at('#/lanes'))
  await ready(page, 'lanes')
  const late = await texts(page, '.late li b')
  const live = simulation.toLive()
  const known = new Set(live.map(({ slug, member }) => `${slug}, member ${member}`))
  assert.ok(late.length > 0, 'the simulation has stragglers')
  assert.equal(
    late.filter(name => !known.has(name)),
    [],
  )
  const canvas = page.locator('.lanes canvas')
  assert.ok(Number(await canvas.getAttribute('data-boxes')) > 100)
  await canvas.focus()
  await page.keyboard.press('Home')
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press('ArrowDown')
  assert.match((await texts(page, '.told'))[0] ?? '', /member \d+: /)
  await page.keyboard.press('Enter')
  await page.locator('.turn.prompt, .empty').first().waitFor()
  assert.match(page.url(), /#\/run\/run-\d{16}$/)
  await page.close()
})

test('Groups shows who has which reward, and which groups were trained on together', async () => {
  const { page } = await browser.open(at('#/groups'))
  await ready(page, 'groups')
  const forming = new Set(simulation.toLive().map(({ groupId }) => groupId))
  assert.is(await page.locator('.panel:has(h2:text-is("Forming")) .group').count(), forming.size)
  const last = simulation.groups.toSorted((a, b) => b.endedAt - a.endedAt)[0]
  const cells = await texts(page, '.panel:has(h2:text-is("Over")) .group:first-child .cell > [aria-hidden]')
  assert.is(cells.length, GROUP_SIZE)
  assert.equal(
    cells,
    last?.rewards.map(each => (each === null ? '✕' : each === 0.5 ? '0.5' : String(each))),
  )
  const chunk = simulation.chunks.at(-1)
  const [row] = await texts(page, '.panel:has(h2:text-is("Chunks")) tbody tr')
  assert.match(
    row ?? '',
    `${(chunk?.step ?? 0) + 1} ${(chunk?.call ?? 0) + 1} ${chunk?.groups.length} ${chunk?.datums}`,
  )
  await page.close()
})

test('Training: charts and tables hold the same values, those of the feed', async () => {
  const { page } = await browser.open(at('#/training'))
  await ready(page, 'training')
  const { steps, evaluations } = simulation
  assert.ok(steps.length >= 2)
  assert.equal(
    await chartData(page, 0, 'train'),
    steps.map(({ step, passRate }) => [step, passRate]),
  )
  assert.equal(
    await chartData(page, 0, 'split held-out'),
    evaluations.map(({ afterSteps, passRate }) => [afterSteps, passRate]),
  )
  assert.equal(
    await chartData(page, 2, 'loss'),
    steps.map(({ step, loss }) => [step + 1, loss]),
  )
  const rates = await tableUnder(page, 'Pass rate by training steps taken: the table')
  assert.equal(
    rates.map(([what, after, solved, runs, rate]) => [what, after, solved, runs, rate]),
    [
      ...steps.map(each => [
        'train',
        String(each.step),
        String(each.solved),
        String(each.runs),
        `${(each.passRate * 100).toFixed(1)} %`,
      ]),
      ...evaluations.map(each => [
        each.split,
        String(each.afterSteps),
        String(each.solved),
        '128',
        `${(each.passRate * 100).toFixed(1)} %`,
      ]),
    ],
  )
  const losses = await tableUnder(page, 'Loss by step: the table')
  assert.equal(
    losses,
    steps.map(({ step, loss }) => [String(step + 1), loss?.toFixed(3)]),
  )
  await page.close()
})

test('Failures counts by kind, and leads to the first of each', async () => {
  const { page } = await browser.open(at('#/failures'))
  await ready(page, 'failures')
  const kinds = [...simulation.failures.values()].sort((a, b) => b.count - a.count || a.first.at - b.first.at)
  assert.ok(kinds.length > 0)
  assert.equal(
    await texts(page, '.failure .head'),
    kinds.map(
      ({ kind, count, outcome }) =>
        `${count} × ${kind} ${outcome === 'infrastructure-error' ? "the infrastructure's" : "the environment's"}`,
    ),
  )
  assert.is(await page.locator('.panel:has(h2:text-is("Problems")) tbody tr').count(), 2)
  await page.locator('.failure a').first().click()
  await page.locator('.turn.prompt').waitFor()
  assert.match(page.url(), `#/run/${kinds[0]?.first.runId}`)
  await page.close()
})

test('Workers is a view of a job that has any: each with what it does, those that are not well first, in the order asked for', async () => {
  const { page } = await browser.open(at('#/now'))
  await ready(page, 'now')
  assert.not.ok((await texts(page, '.tabs a')).includes('Workers'), 'on one machine there are none')
  await page.goto(at('#/workers'))
  await page.getByText('Nobody tells of workers.').waitFor()
  const workers = toWorkers(200, simulation.at)
  server.push({ type: 'tick', ...simulation.tick(0), workers })
  await page.getByRole('link', { name: 'Workers' }).click()
  await ready(page, 'workers')
  const rows = () => texts(page, '.panel:has(h2:text-is("Workers")) tbody tr')
  const there = workers.list.filter(({ goneAt }) => goneAt === undefined)
  assert.match((await texts(page, '.panel header p'))[0] ?? '', '200 are there, 1 silent, 1 draining')
  const used = there.reduce((sum, { rollouts }) => sum + rollouts, 0).toLocaleString('en-US')
  assert.match((await texts(page, '.facts')).join(), `Rollouts ${used} of ${workers.credits.toLocaleString('en-US')}`)
  const [silent, draining, first] = await rows()
  assert.match(silent ?? '', /^rollout-001-[0-9a-f]{8} ▲ silent \d min \d\d s \d+ of 64 /)
  assert.match(draining ?? '', /^rollout-002-[0-9a-f]{8} ◐ draining 17 of 17 3 /)
  const third = there[2]
  assert.match(first ?? '', `● joined ${third?.rollouts} of 64 ${third?.groups} ${third?.rate.toFixed(1)} `)
  await page.getByLabel('Order').selectOption('most rollouts')
  const most = Math.max(...there.filter(({ state }) => state === 'joined').map(({ rollouts }) => rollouts))
  assert.match((await rows())[2] ?? '', ` joined ${most} of 64 `)
  await page.getByRole('button', { name: 'Show all 200 rows' }).click()
  assert.is((await rows()).length, 200)
  const gone = await texts(page, '.panel:has(h2:text-is("Gone")) tbody tr')
  assert.match(gone[0] ?? '', /✕ lost [\d:]{8} \d groups with \d+ rollouts, for others from [\d:]{8} on /)
  assert.match(gone[1] ?? '', /✕ lost [\d:]{8} \d groups with \d+ rollouts, given to others /)
  assert.match(gone[2] ?? '', /○ left [\d:]{8} gave back what it had /)
  await page.close()
})

test('Trajectory: a token tells its logprob to the pointer and to the keys; long output folds; a run is found by its id', async () => {
  const { page } = await browser.open(at('#/run'))
  await ready(page, 'newest')
  assert.is(await page.locator('tbody tr').count(), 50)
  await page.getByLabel('Run, or the beginning of its id').fill(ended?.runId ?? '')
  await page.keyboard.press('Enter')
  await page.locator('.turn.prompt').waitFor()
  await page.locator('[data-token="1"]').hover()
  const told = page.locator('.turn.assistant [role=status]')
  assert.is(await told.textContent(), 'Token 2 of 12, " loop": logprob -0.0500, probability 95.12 %.')
  await page.locator('.tokens').focus()
  await page.keyboard.press('End')
  assert.is(await told.textContent(), 'Token 12 of 12, "done": logprob -0.1100, probability 89.58 %.')
  assert.is(await page.locator('[data-token="5"]').getAttribute('class'), 'l4')
  assert.is(await page.locator('[data-token="9"]').getAttribute('class'), '')
  const fold = page.getByRole('button', { name: /Show all [\d,]+ characters/ })
  await fold.click()
  assert.match((await texts(page, '.turn.tool pre')).join(), /(a line of output ){199}/)
  await page.close()
})

test('Ladder: the chart and its table hold the medians of the receipt', async () => {
  const { page } = await browser.open(at('#/ladder'))
  await ready(page, 'ladder')
  const points = server.scene.ladders.ladders[0]?.points ?? []
  assert.equal(
    await chartData(page, 0, 'cold'),
    points.map(({ figures }) => figures.ready_p50_s),
  )
  const rows = await tableUnder(page, 'Sandboxes: seconds until ready, by how many at once: the table')
  assert.equal(
    rows,
    points.map(({ strategy, n, figures }) => [
      strategy,
      String(n),
      '3',
      String(3 * n),
      '0',
      String(figures.ready_p50_s),
      String(figures.ready_p95_s),
      String(figures.wall_s),
    ]),
  )
  await page.close()
})

test.run()
