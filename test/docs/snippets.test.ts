/** What pages show as code is right as it stands: types of TypeScript against the package, the syntax of Python, JSON, and rows of tasks. */
import { execFile } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import * as assert from 'uvu/assert'
import { loadPage } from '../../docs/site/pages.ts'
import { parseTaskRows } from '../../src/taskset/parse-task-rows.ts'
import { tellTally } from '../support/figures.ts'
import { repository } from '../support/source-imports.ts'
import { suite } from '../support/suite.ts'
import { withFiles } from '../support/temporary-directory.ts'
import { type Plan, planPage, type Snippet } from './plan.ts'
import { listAllPages } from './run-pages.ts'

const test = suite('docs: snippets')
const run = promisify(execFile)
const plans = listAllPages().map(path => ({ path, plan: planPage(loadPage(repository, path)) }))

const COMPILER_OPTIONS = {
  target: 'es2023',
  lib: ['es2023', 'esnext.disposable'],
  module: 'nodenext',
  strict: true,
  noEmit: true,
  allowJs: true,
  checkJs: true,
  allowImportingTsExtensions: true,
  skipLibCheck: true,
  types: ['node'],
}

/** Two that a page writes under one name are one after the other: the later one has the name. */
function toFiles(path: string, snippets: readonly Snippet[]): Readonly<Record<string, string>> {
  const files: Record<string, string> = {}
  const folder = path.replaceAll(/[/.]/g, '-')
  for (const { language, line, name, text } of snippets) {
    const isLater = snippets.some(other => other.name === name && other.line > line)
    const file = name === undefined || isLater ? `line-${line}.${language === 'js' ? 'mjs' : language}` : name
    files[`${folder}/${file}`] = language === 'py' ? text : `${text}\nexport {}\n`
  }
  return files
}

/** Rejects with what the compiler says. */
async function compile(files: Readonly<Record<string, string>>): Promise<string> {
  return withFiles({ 'package.json': '{ "type": "module" }' }, async directory => {
    symlinkSync(join(repository, 'node_modules'), join(directory, 'node_modules'))
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(directory, name)), { recursive: true })
      writeFileSync(join(directory, name), text)
    }
    const paths = Object.fromEntries(
      ['troupe', 'environment', 'stream', 'kernel', 'emulator', 'policy', 'testing'].map(name => [
        name === 'troupe' ? name : `troupe/${name}`,
        [fileURLToPath(new URL(`../../src/${name === 'troupe' ? '' : `${name}/`}index.d.ts`, import.meta.url))],
      ]),
    )
    // Pages are run in what looks like a clone.
    for (const page of new Set(Object.keys(files).map(name => name.split('/')[0] ?? '')))
      symlinkSync(join(repository, 'environments'), join(directory, page, 'environments'))
    const config = { compilerOptions: { ...COMPILER_OPTIONS, paths }, files: Object.keys(files) }
    writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify(config))
    const compiler = join(repository, 'node_modules/.bin/tsc')
    const ended = await run(compiler, ['-p', directory, '--pretty', 'false'], { cwd: directory }).catch(error => error)
    return String(ended.stdout)
  })
}

test(
  'TypeScript and JavaScript have no wrong type, fragments behind what they are given',
  async () => {
    const files = Object.assign(
      {},
      ...plans.map(({ path, plan }) =>
        toFiles(
          path,
          plan.snippets.filter(({ language }) => language !== 'py'),
        ),
      ),
    )
    assert.ok(Object.keys(files).length > 15, 'the snippets are found at all')
    assert.is(await compile(files), '')
  },
  { deadlineMs: 60_000 },
)

test(
  'a snippet that names what is not there is noticed, and so is one that is given the wrong thing',
  async () => {
    const found = await compile({
      'page/line-1.ts': "import { Jobb } from 'troupe'\nexport {}\n",
      'page/line-2.ts': "import { LocalRuntime } from 'troupe'\nnew LocalRuntime(7)\nexport {}\n",
      'page/line-3.ts': "import { LocalRuntime } from 'troupe'\nnew LocalRuntime('env.ts')\nexport {}\n",
    })
    assert.match(found, 'line-1.ts(1,10): error TS2724')
    assert.match(found, 'line-2.ts(2,18): error TS2345')
    assert.not.match(found, 'line-3.ts')
  },
  { deadlineMs: 60_000 },
)

test('Python can be read', async () => {
  const programs = plans.flatMap(({ path, plan }) =>
    plan.snippets
      .filter(({ language }) => language === 'py')
      .map(({ line, text }) => ({ name: `${path}:${line}`, text })),
  )
  const program = 'import ast, json, sys\nfor each in json.loads(sys.argv[1]): ast.parse(each["text"], each["name"])'
  await run('python3', ['-c', program, JSON.stringify(programs)])
})

test('JSON can be read, and what is a row of a taskset is a good one', () => {
  let rows = 0
  for (const { path, plan } of plans)
    for (const { line, text } of plan.documents) {
      const place = `${path}:${line}`
      const value = parse(place, text)
      if (typeof value !== 'object' || value === null || !('env' in value && 'id' in value)) continue
      rows += 1
      parseTaskRows([{ value, place }])
    }
  assert.ok(rows > 3, 'rows are found at all')
})

test('how many there are is told', () => {
  const sum = (count: (plan: Plan) => number) => plans.reduce((sofar, { plan }) => sofar + count(plan), 0)
  tellTally({
    what: 'docs',
    counts: {
      'snippets checked': sum(({ snippets }) => snippets.length),
      'JSON documents checked': sum(({ documents }) => documents.length),
    },
  })
  assert.ok(sum(({ snippets }) => snippets.length) > 15)
})

function parse(place: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Error(`${place}: ${error instanceof Error ? error.message : error}`)
  }
}

test.run()
