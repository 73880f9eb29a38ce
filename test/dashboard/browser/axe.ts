import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import { z } from 'zod'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

const foundSchema = z.array(z.string())

/** What axe-core holds against the page as it is: a rule and the element, each. All rules, best practices too, unless one is named. */
export async function findViolations(page: Page, rule?: string): Promise<readonly string[]> {
  await page.evaluate(AXE)
  const options = { resultTypes: ['violations'], ...(rule === undefined ? {} : { runOnly: [rule] }) }
  const found = await page.evaluate(`axe.run(document, ${JSON.stringify(options)}).then(({ violations }) =>
    violations.flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) => id + ': ' + target.join(' ') + ' ' + failureSummary)))`)
  return foundSchema.parse(found)
}
