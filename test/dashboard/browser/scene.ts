import type { Page } from 'playwright-core'
import { z } from 'zod'
import { Simulation } from './fixture/simulation.ts'

/** The small training that the tests look at: some steps of eight groups are over. */
export function smallTraining(): Simulation {
  return letPass(new Simulation({ width: 32, seed: 1, groupsPerStep: 8 }), 70_000)
}

/** In steps of a quarter of a second. */
export function letPass(simulation: Simulation, ms: number): Simulation {
  for (let passed = 0; passed < ms; passed += 250) simulation.tick(250)
  return simulation
}

/** Texts of all elements that a selector finds, their white space folded. */
export async function texts(page: Page, selector: string): Promise<readonly string[]> {
  const found = await page.locator(selector).allInnerTexts()
  return found.map(text => text.replaceAll(/\s+/g, ' ').trim())
}

/** How much wider than the window the page is. */
export async function overflow(page: Page): Promise<number> {
  const found = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
  return z.number().parse(found)
}

/** Words that tables break in two, though they have a scroll bar for what is too wide. Long ids may be broken. */
export async function brokenWords(page: Page): Promise<readonly string[]> {
  const found = await page.evaluate(`[...document.querySelectorAll('th, td')].filter(cell => {
    if (!/^\\S{1,20}$/.test(cell.textContent)) return false
    const range = document.createRange()
    range.selectNodeContents(cell)
    return new Set([...range.getClientRects()].map(({ top }) => top)).size > 1
  }).map(cell => cell.textContent)`)
  return z.array(z.string()).parse(found)
}

/** The values of one line of a chart, as its library holds them. */
export async function chartData(page: Page, chart: number, series: string): Promise<unknown> {
  return page.evaluate(`import('/lib/echarts.js').then(({ getInstanceByDom }) =>
    getInstanceByDom(document.querySelectorAll('.plot')[${chart}]).getOption().series.find(({ id }) => id === ${JSON.stringify(series)}).data)`)
}

/** Opens the fold and reads its table: a row a list of cells. */
export async function tableUnder(page: Page, summary: string): Promise<readonly (readonly string[])[]> {
  const fold = page.locator('details', { has: page.getByText(summary, { exact: true }) })
  await fold.locator('summary').click()
  await fold.locator('table').waitFor()
  const rows = await fold.locator('tbody tr').all()
  return Promise.all(rows.map(async row => row.locator('th, td').allInnerTexts()))
}

/** Waits until the page has heard from the feed. */
export async function heard(page: Page): Promise<void> {
  await page.locator('.badge').waitFor()
}

/** What a view needs before it is all there. */
export async function ready(page: Page, tab: string): Promise<void> {
  await heard(page)
  const marks: Readonly<Record<string, string>> = {
    now: '.tile',
    lanes: '.lanes canvas[data-boxes]',
    groups: '.group',
    training: '.plot canvas',
    failures: '.failure',
    workers: '.standing.joined',
    run: '.turn.grade',
    newest: 'tbody tr',
    ladder: '.plot canvas',
  }
  await page
    .locator(marks[tab] ?? 'main')
    .first()
    .waitFor()
}
