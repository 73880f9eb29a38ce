/** 4,096 rollouts at once, from the fixture: what hearing, showing and drawing take. Orders of magnitude are asserted, figures told. */
import * as assert from 'uvu/assert'
import { z } from 'zod'
import { tellFigures } from '../../support/figures.ts'
import { suite } from '../../support/suite.ts'
import { serveFixture } from './fixture/server.ts'
import { Simulation } from './fixture/simulation.ts'
import { openBrowser, type TestBrowser } from './open-browser.ts'
import { heard, letPass } from './scene.ts'

const test = suite('the page: wide')

const TICKS = 6
/** An order of magnitude and more above what it takes on a quiet machine, for one that is not. */
const MOST_MEDIAN_MS = { hear: 500, show: 500, lanes: 500 } as const

let browser: TestBrowser
test.before(async () => {
  browser = await openBrowser()
})
test.after(() => browser?.close())

const measuredSchema = z.record(z.string(), z.array(z.number()))

for (const width of [256, 4096])
  test(
    `${width} wide: ticks are heard, shown and drawn within a frame or few`,
    async () => {
      const simulation = letPass(new Simulation({ width, seed: 2, groupsPerStep: width / 8 }), 8_000)
      const server = await serveFixture(simulation)
      try {
        const told: string[] = []
        for (const view of ['now', 'lanes', 'groups']) {
          const { page, complaints } = await browser.open(`${server.url}/#/${view}`)
          await heard(page)
          await page.evaluate(`performance.clearMeasures(); globalThis.long = [];
            new PerformanceObserver(list => long.push(...list.getEntries().map(({ duration }) => duration))).observe({ type: 'longtask' })`)
          for (let count = 0; count < TICKS; count += 1) {
            const tick = simulation.tick(250)
            server.push({ type: 'tick', ...tick })
            await page.evaluate(`new Promise(resolve => {
              const look = () => performance.getEntriesByName('hear').length > ${count} ? resolve() : requestAnimationFrame(look)
              look()
            })`)
          }
          const found = await page.evaluate(`({ long, ...Object.fromEntries(['hear', 'show', 'lanes'].map(name =>
            [name, performance.getEntriesByName(name).map(({ duration }) => duration)])) })`)
          const { long = [], ...measured } = measuredSchema.parse(found)
          assert.ok((measured.hear ?? []).length >= TICKS)
          for (const [name, most] of Object.entries(MOST_MEDIAN_MS)) {
            const median = quantile(measured[name] ?? [], 0.5)
            if (median !== undefined) assert.ok(median < most, `${view}: ${name} took ${median} ms`)
          }
          assert.equal(complaints, [])
          told.push(`${view} ${tell(measured)}, ${long.length} tasks over 50 ms`)
          await page.close()
        }
        tellFigures(`${width} wide, ${TICKS} ticks, ms p50/p95: ${told.join('; ')}`)
      } finally {
        await server.close()
      }
    },
    { deadlineMs: 110_000 },
  )

function tell(measured: Readonly<Record<string, readonly number[]>>): string {
  return Object.entries(measured)
    .filter(([, values]) => values.length > 0)
    .map(([name, values]) => `${name} ${quantile(values, 0.5)?.toFixed(1)}/${quantile(values, 0.95)?.toFixed(1)}`)
    .join(', ')
}

function quantile(values: readonly number[], share: number): number | undefined {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]
}

test.run()
