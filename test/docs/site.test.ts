/** `npm run docs:site` makes a site that hangs together, of every page and of every export, and asks nothing of any other host. */
import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Parser } from 'htmlparser2'
import MiniSearch from 'minisearch'
import * as assert from 'uvu/assert'
import { findPages } from '../../docs/site/pages.ts'
import { routeOf } from '../../docs/site/route.ts'
import { OPTIONS } from '../../docs/site/search-index.ts'
import { tellFigures } from '../support/figures.ts'
import { repository } from '../support/source-imports.ts'
import { suite } from '../support/suite.ts'

const test = suite('docs: the site')
const run = promisify(execFile)
const main = fileURLToPath(new URL('../../docs/site/main.js', import.meta.url))

/** Of one HTML file. */
interface Html {
  readonly ids: ReadonlySet<string>
  /** What links point at. */
  readonly links: readonly string[]
  /** What is loaded: scripts, styles, images. */
  readonly loaded: readonly string[]
  readonly title: string
  readonly navLinks: number
}

function readHtml(text: string): Html {
  const ids = new Set<string>()
  const links: string[] = []
  const loaded: string[] = []
  let title = ''
  let navLinks = 0
  let inTitle = false
  let inNav = false
  const parser = new Parser({
    onopentag(name, attributes) {
      if (attributes.id !== undefined) ids.add(attributes.id)
      if (name === 'title' && title === '') inTitle = true
      if (name === 'nav') inNav = true
      if (name === 'a' && attributes.href !== undefined) {
        links.push(attributes.href)
        if (inNav) navLinks += 1
      }
      if (name !== 'a' && attributes.href !== undefined && name !== 'use') loaded.push(attributes.href)
      if (attributes.src !== undefined) loaded.push(attributes.src)
    },
    ontext(more) {
      if (inTitle) title += more
    },
    onclosetag(name) {
      if (name === 'title') inTitle = false
      if (name === 'nav') inNav = false
    },
  })
  parser.end(text)
  return { ids, links, loaded, title, navLinks }
}

let out = ''
let files = new Map<string, Html>()
test.before(async () => {
  out = mkdtempSync(join(tmpdir(), 'troupe-site-'))
  await run(process.execPath, [main, out], { cwd: repository, timeout: 200_000 }).catch(error => {
    throw new Error(`${error.stdout}${error.stderr}`)
  })
  const names = readdirSync(out, { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.html'))
  files = new Map(names.map(name => [name, readHtml(readFileSync(join(out, name), 'utf8'))]))
})
test.after(() => rmSync(out, { recursive: true, force: true }))

/** Undefined where it leads somewhere. */
function judge(from: string, target: string): string | undefined {
  if (/^[a-z]+:/.test(target)) return undefined
  const [file = '', anchor = ''] = target.split('#').map(decodeURIComponent)
  const path = file === '' ? from : posix.join(posix.dirname(from), file)
  if (!existsSync(join(out, path))) return `${from}: ${target}: there is no ${path}`
  if (anchor === '' || !path.endsWith('.html')) return undefined
  return files.get(path)?.ids.has(anchor) === true ? undefined : `${from}: ${target}: no such place in ${path}`
}

test('every page of docs is in it, with every export in the API reference', () => {
  assert.equal(
    findPages(repository)
      .map(routeOf)
      .filter(route => !files.has(route)),
    [],
  )
  assert.ok([...files.keys()].filter(name => name.startsWith('api/')).length > 100)
  tellFigures(
    `site: ${files.size} pages, ${[...files.values()].reduce((sum, { links }) => sum + links.length, 0)} links`,
  )
})

test('every link leads to a page, and to a place that is in it', () => {
  const broken = [...files].flatMap(([from, { links }]) => links.flatMap(target => judge(from, target) ?? []))
  assert.equal(broken.slice(0, 20), [])
})

test('nothing is loaded from elsewhere, and what is loaded is there', () => {
  const problems = [...files].flatMap(([from, { loaded }]) =>
    loaded.flatMap(target =>
      /^(https?:)?\/\//.test(target)
        ? [`${from} loads ${target}`]
        : target.startsWith('data:')
          ? []
          : (judge(from, target) ?? []),
    ),
  )
  assert.equal(problems.slice(0, 20), [])
  for (const name of readdirSync(join(out, 'assets')).filter(each => each.endsWith('.css')))
    assert.not.match(readFileSync(join(out, 'assets', name), 'utf8'), /@import|url\(/)
})

test('every page has a title, and the navigation without any script', () => {
  const own = [...files].filter(([name]) => !name.startsWith('api/'))
  assert.equal(
    [...files].filter(([, { title }]) => title.trim() === '').map(([name]) => name),
    [],
  )
  assert.equal(
    own.filter(([, { navLinks }]) => navLinks < 25).map(([name]) => name),
    [],
  )
})

test('no address begins at the root of a host, so that it works from a disk and under any path', () => {
  const rooted = [...files].flatMap(([from, { links, loaded }]) =>
    [...links, ...loaded].filter(target => target.startsWith('/')).map(target => `${from}: ${target}`),
  )
  assert.equal(rooted.slice(0, 20), [])
})

test('the search finds a section by its words, and points at it', () => {
  const script = readFileSync(join(out, 'assets/search-index.js'), 'utf8')
  const { index } = JSON.parse(script.slice(script.indexOf('{')))
  const search = MiniSearch.loadJSON(index, OPTIONS)
  const found = search
    .search('verifiers')
    .slice(0, 3)
    .map(({ id }) => String(id))
  assert.ok(found.includes('tasks.html#verifiers'), found.join(' '))
  assert.is(judge('index.html', 'tasks.html#verifiers'), undefined)
})

test.run()
