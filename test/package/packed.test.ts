/** The package that would be published: packed, installed into an empty project, used as users do, and looked at by the tools that know what goes wrong there. */
import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import * as assert from 'uvu/assert'
import { DOCUMENT } from '../../src/dashboard/page/document.ts'
import { tellFigures } from '../support/figures.ts'
import { repository } from '../support/source-imports.ts'
import { suite } from '../support/suite.ts'
import { type Packed, packAndInstall } from './packed.ts'

const test = suite('the package')
const run = promisify(execFile)

const ENVIRONMENT = `import { Environment, numericMatch, z } from 'troupe/environment'
export const env = new Environment('sums', { version: '1.0.0' })
export const add = env.template('add', { args: z.object({ a: z.int(), b: z.int() }) }, async function* ({ a, b }) {
  yield numericMatch(yield \`\${a} + \${b}\`, a + b)
})
`
const TASKS = `import { add } from './env.ts'
export default [add({ a: 1, b: 2 }), add({ a: 3, b: 4 })]
`
const AGENT = `export default () => ({
  name: 'adder',
  async run({ prompt }) {
    const [a, b] = prompt.split(' + ').map(Number)
    return { answer: String(a + b), stop: 'done' }
  },
})
`
const ENTRIES = ['', '/kernel', '/stream', '/environment', '/emulator', '/policy', '/testing'].map(
  each => `troupe${each}`,
)
/** The same program for both kinds of module. */
const PROGRAM = `async function main() {
  const taskset = await Taskset.load('tasks.ts')
  const job = await taskset.run(createAgent('agent.mjs'), { runtime: new LocalRuntime('env.ts'), group: 2, threads: 1 })
  console.log(JSON.stringify(job.runs.map(run => run.reward)))
  await job.close()
}
main()
`

let packed: Packed
test.before(async () => {
  packed = await packAndInstall()
  await packed.write('env.ts', ENVIRONMENT)
  await packed.write('tasks.ts', TASKS)
  await packed.write('agent.mjs', AGENT)
})
test.after(() => packed.remove())

test('publint finds nothing', async () => {
  const { messages } = await publint({ pkgDir: packed.installed, pack: false, strict: true })
  const manifest = JSON.parse(readFileSync(join(packed.installed, 'package.json'), 'utf8'))
  assert.equal(
    messages.map(message => `${message.code}: ${formatMessage(message, manifest)}`),
    [],
  )
})

test('the types are those of what is run, for every entry', async () => {
  const found = await checkPackage(createPackageFromTarballData(new Uint8Array(readFileSync(packed.tarball))))
  assert.ok(found.types !== false, 'there are types at all')
  // Resolution as before Node 12 knows no entries, and require() of a module is what the supported versions of Node do.
  const problems = found.problems.filter(
    problem =>
      problem.kind !== 'CJSResolvesToESM' && !('resolutionKind' in problem && problem.resolutionKind === 'node10'),
  )
  assert.equal(problems, [])
})

test('holds nothing but what is run, declared or told', () => {
  const files = readdirSync(packed.installed, { recursive: true, encoding: 'utf8' })
  assert.ok(files.includes('LICENSE') && files.includes('README.md') && files.includes('CHANGELOG.md'))
  assert.equal(
    // The templates' tests are what new environments get.
    files.filter(
      file =>
        !file.startsWith('templates/') &&
        /(^|\/)(test|bench|node_modules|\.troupe|\.cache)(\/|$)|\.test\.|\.tsbuildinfo$/.test(file),
    ),
    [],
  )
  tellFigures(`npm pack: ${kib(packed.bytes)} packed, ${kib(packed.unpackedBytes)} unpacked, ${files.length} files`)
})

test("the dashboard's page is in it, with every module that it is made of", () => {
  const page = join(packed.installed, 'dist/src/dashboard/page')
  const bare = new Set<string>()
  const modules = new Set([join(page, 'main.js')])
  for (const path of modules)
    for (const [, name = ''] of readFileSync(path, 'utf8').matchAll(/\b(?:from|import)[ (]*["']([^"']+)["']/g))
      if (name.startsWith('.')) modules.add(join(path, '..', name))
      else bare.add(name)
  assert.ok(modules.size > 30, `${modules.size} modules`)
  const [, map = ''] = /<script type="importmap">(.*)<\/script>/.exec(DOCUMENT) ?? []
  assert.equal([...bare].sort(), Object.keys(JSON.parse(map).imports))
})

test('a module imports every entry', async () => {
  assert.equal(
    packed.entries.map(entry => entry.replace('.', 'troupe')),
    ENTRIES,
  )
  await packed.write(
    'entries.mjs',
    ENTRIES.map(name => `console.log('${name}', Object.keys(await import('${name}')).length > 0)`).join('\n'),
  )
  assert.is(await packed.node('entries.mjs'), ENTRIES.map(name => `${name} true\n`).join(''))
})

test('CommonJS requires every entry, and has the same copy as a module', async () => {
  await packed.write(
    'entries.cjs',
    `const main = async () => {
      for (const name of ${JSON.stringify(ENTRIES)}) console.log(name, require(name) === (await import(name)))
    }
    main()`,
  )
  assert.is(await packed.node('entries.cjs'), ENTRIES.map(name => `${name} true\n`).join(''))
})

test('a module runs a taskset', async () => {
  await packed.write('use.mjs', `import { createAgent, LocalRuntime, Taskset } from 'troupe'\n${PROGRAM}`)
  assert.is(await packed.node('use.mjs'), '[1,1,1,1]\n')
})

test('so does CommonJS', async () => {
  await packed.write('use.cjs', `const { createAgent, LocalRuntime, Taskset } = require('troupe')\n${PROGRAM}`)
  assert.is(await packed.node('use.cjs'), '[1,1,1,1]\n')
})

test('its command is there', async () => {
  assert.match(await packed.troupeIn('.', '--version'), /^\d+\.\d+\.\d+/)
})

test('TypeScript knows what both kinds of module get', async () => {
  const use = `const run: Run['reward'] = null
const taskset: Taskset = new Taskset('t', [{ env: 'e', id: 'i' }])
// @ts-expect-error a taskset has a name
new Taskset(1, [])
console.log(run, taskset, makeChunks, VirtualClock)
`
  await packed.write(
    'use.mts',
    `import { type Run, Taskset } from 'troupe'\nimport { chunkGroups as makeChunks } from 'troupe/stream'\nimport { VirtualClock } from 'troupe/testing'\n${use}`,
  )
  await packed.write(
    'use.cts',
    `import { type Run, Taskset } from 'troupe'\nimport { chunkGroups as makeChunks } from 'troupe/stream'\nimport { VirtualClock } from 'troupe/testing'\n${use}`,
  )
  const compiler = join(repository, 'node_modules/.bin/tsc')
  const options = [
    '--noEmit',
    '--strict',
    '--skipLibCheck',
    '--module',
    'nodenext',
    '--target',
    'es2023',
    '--types',
    'node',
  ]
  const { stdout } = await run(compiler, [...options, 'use.mts', 'use.cts'], { cwd: packed.project }).catch(
    (error: { stdout: string }) => error,
  )
  assert.is(stdout, '')
})

function kib(bytes: number): string {
  return `${Math.round(bytes / 1024)} KiB`
}

test.run()
