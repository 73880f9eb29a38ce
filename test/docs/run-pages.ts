import * as assert from 'uvu/assert'
import { findPages, loadPage } from '../../docs/site/pages.ts'
import { tellTally } from '../support/figures.ts'
import { needTime } from '../support/need-time.ts'
import { repository } from '../support/source-imports.ts'
import { suite } from '../support/suite.ts'
import { runPage } from './run-page.ts'

/**
 * Which pages are run together, in one file of tests each, so that two files take turns on two cores. What no other group names is in
 * the last one.
 */
const GROUPS = {
  readme: ['README.md', 'docs/embedding.md'],
  start: ['docs/quick-start.md', 'docs/metrics.md', 'docs/agents.md', 'docs/tasks.md'],
  tutorial: ['docs/tutorial.md', 'docs/tuning.md'],
  environments: ['docs/environments.md', 'docs/explain.md', 'docs/emulator.md', 'docs/platform.md'],
  training: ['docs/training.md', 'docs/trainers.md', 'docs/operations.md'],
} as const satisfies Readonly<Record<string, readonly string[]>>

type GroupName = keyof typeof GROUPS | 'others'

/** Pages of the group that are there; `TROUPE_DOCS_PAGE` leaves one of them. */
export function pagesOf(group: GroupName): readonly string[] {
  const named = Object.values<readonly string[]>(GROUPS).flat()
  const only = process.env.TROUPE_DOCS_PAGE
  return listAllPages().filter(
    path =>
      (only === undefined || path === only) &&
      (group === 'others' ? !named.includes(path) : GROUPS[group].some(each => each === path)),
  )
}

/** Those that are run. What is in docs/reference is made from the code; the templates' READMEs are held by `test/package/init.test.ts`. */
export function listAllPages(): readonly string[] {
  return [...findPages(repository), 'actors/README.md'].filter(path => !path.startsWith('docs/reference/'))
}

/** A test for each page; its counts are added up at the end of the suite. */
export function runGroup(group: GroupName): void {
  // Where others use the machine, too, a group takes several times as long.
  needTime(600_000)
  const test = suite(`docs: ${group}`)
  for (const path of pagesOf(group))
    test(
      `${path} does what it says`,
      async () => {
        const { commands, compared, programs, standIns } = await runPage(loadPage(repository, path))
        tellTally({
          what: 'docs',
          counts: {
            commands,
            'of them by a shorter stand-in': standIns,
            'programs run': programs,
            'shown outputs compared': compared,
          },
        })
      },
      { deadlineMs: 480_000 },
    )
  const only = process.env.TROUPE_DOCS_PAGE
  if (only !== undefined)
    test(`${only} is a page`, () => assert.ok(listAllPages().includes(only), listAllPages().join('\n')))
  test.run()
}
