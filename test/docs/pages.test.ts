/** Pages hang together: each is listed, each link leads somewhere, and each block says what is to be done with it. */
import { existsSync } from 'node:fs'
import { join, posix } from 'node:path'
import * as assert from 'uvu/assert'
import { type Page, readPage } from '../../docs/site/page.ts'
import { findPages, INDEX, loadPage, readChapters } from '../../docs/site/pages.ts'
import { tellTally } from '../support/figures.ts'
import { repository } from '../support/source-imports.ts'
import { suite } from '../support/suite.ts'
import { planPage } from './plan.ts'
import { listAllPages } from './run-pages.ts'

const test = suite('docs: pages')
const pages = [
  ...listAllPages(),
  'CONTRIBUTING.md',
  ...findPages(repository).filter(path => path.includes('reference/')),
].map(path => loadPage(repository, path))

/** Links of a page that lead nowhere: to no file, to no heading, or out by an address that is none. */
function findBroken(page: Page, load: (path: string) => Page | undefined): readonly string[] {
  return page.links.flatMap(({ line, target }) => {
    const problem = judge(page, target, load)
    return problem === undefined ? [] : [`${page.path}:${line}: ${target}: ${problem}`]
  })
}

function judge(page: Page, target: string, load: (path: string) => Page | undefined): string | undefined {
  if (/^[a-z]+:/.test(target)) {
    if (!URL.canParse(target)) return 'is no address'
    return new URL(target).protocol === 'https:' ? undefined : 'is not https'
  }
  const [file = '', anchor] = target.split('#')
  const path = file === '' ? page.path : posix.join(posix.dirname(page.path), decodeURIComponent(file))
  if (path !== page.path && !existsSync(join(repository, path))) return `there is no ${path}`
  if (anchor === undefined) return undefined
  if (!path.endsWith('.md')) return 'only pages have headings'
  const other = path === page.path ? page : load(path)
  return other?.headings.some(each => each.anchor === anchor) ? undefined : `${path} has no heading #${anchor}`
}

test('every link between pages, to files and to headings leads there, and links outside are addresses', () => {
  assert.ok(pages.flatMap(({ links }) => links).length > 100, 'the links are found at all')
  assert.equal(
    pages.flatMap(page => findBroken(page, path => loadPage(repository, path))),
    [],
  )
})

test('a broken link is noticed, whatever is wrong with it', () => {
  const text = `# Here
[a](nowhere.md) [b](cli.md#nothing) [c](#here) [d](#there) [e](http://plain.example) [f](https://one.example/x) ![g](no.svg)
[h](../LICENSE#x)
\`[not](a-link.md)\`
`
  const broken = findBroken(readPage('docs/made-up.md', text), path => loadPage(repository, path))
  assert.equal(
    broken.map(each => each.split(': ')[1]),
    ['nowhere.md', 'cli.md#nothing', '#there', 'http://plain.example', 'no.svg', '../LICENSE#x'],
  )
})

test('docs/README.md lists every page, and only pages that are there', () => {
  const listed = readChapters(repository).flatMap(each => each.pages)
  const wanted = findPages(repository).filter(path => path.startsWith('docs/') && path !== INDEX)
  assert.equal([...listed].sort(), wanted)
})

test('every page has one title', () => {
  assert.equal(
    pages.filter(({ headings }) => headings.filter(({ level }) => level === 1).length !== 1).map(({ path }) => path),
    [],
  )
})

test('every block is run, checked, or says why not', () => {
  const plans = listAllPages().map(path => planPage(loadPage(repository, path)))
  assert.equal(
    plans.flatMap(({ problems }) => problems),
    [],
  )
  const skipped = plans.flatMap(plan => plan.skipped)
  assert.equal(
    skipped.filter(
      ({ test: path }) => path !== undefined && !(path.endsWith('.test.ts') && existsSync(join(repository, path))),
    ),
    [],
    'a test that runs it elsewhere is there',
  )
  const counts: Record<string, number> = {}
  for (const { reason } of skipped) counts[`not run (${reason})`] = (counts[`not run (${reason})`] ?? 0) + 1
  tellTally({ what: 'docs', counts })
})

test('a block without a language or a reason, a reason that is none, and an unknown note are noticed', () => {
  const problems = (text: string) => planPage(readPage('page.md', `# Page\n\n${text}`)).problems
  const block = (language: string) => `\`\`\`${language}\nls\n\`\`\`\n`
  assert.equal(problems(block('sh')), [])
  assert.match(problems(block('')).join(), 'page.md:3: a block in "" must say why')
  assert.match(problems(block('yaml')).join(), 'must say why')
  assert.equal(problems(`<!-- not run: another program -->\n${block('yaml')}`), [])
  assert.match(problems(`<!-- not run: no time -->\n${block('sh')}`).join(), 'none of the reasons')
  assert.match(problems(`<!-- rnu: ls -->\n${block('sh')}`).join(), '"rnu" is no note')
  assert.match(problems(`<!-- with: a cloud -->\n${block('sh')}`).join(), 'nothing that can be started')
  assert.match(problems(block('text')).join(), 'that one is not run')
  assert.equal(problems(`${block('sh')}\nprints\n\n${block('text')}`), [])
  assert.match(problems('    indented\n').join(), 'must say why')
})

test.run()
