/** What is installed with the package: from where, under which licences, and whether anything of it must run to be installed. */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import * as assert from 'uvu/assert'
import { z } from 'zod'
import { repository } from './support/source-imports.ts'
import { suite } from './support/suite.ts'
import { withFiles } from './support/temporary-directory.ts'

const test = suite('supply chain')
const run = promisify(execFile)

const names = z.record(z.string(), z.string()).default({})
const manifestSchema = z.object({ dependencies: names, devDependencies: names, optionalDependencies: names })
const entrySchema = z.object({
  version: z.string().optional(),
  resolved: z.string().optional(),
  integrity: z.string().optional(),
  link: z.boolean().optional(),
  dev: z.boolean().optional(),
  hasInstallScript: z.boolean().optional(),
})
const lockSchema = z.object({ lockfileVersion: z.number(), packages: z.record(z.string(), z.unknown()) })

const read = (name: string): unknown => JSON.parse(readFileSync(join(repository, name), 'utf8'))
const manifest = manifestSchema.parse(read('package.json'))
const lock = lockSchema.parse(read('package-lock.json'))
const entries = Object.entries(lock.packages)
  .filter(([path]) => path !== '')
  .map(([path, entry]) => ({ path, ...entrySchema.parse(entry) }))

/** Packages that come with an install script, and why nothing is lost where it does not run. */
const INSTALL_SCRIPTS: Readonly<Record<string, string>> = {
  'cpu-features': 'optional: ssh2 chooses ciphers by it, and has an order of its own without it',
  lmdb: 'compiles only where no prebuilt package fits; those come as optional dependencies',
  'msgpackr-extract': 'as lmdb; and optional itself: msgpackr reads without it, only slower',
  protobufjs: 'warns of a version that does not fit, and makes nothing',
  ssh2: 'compiles an optional binding; without it ciphers are those of Node',
}

test('the lockfile is in sync with package.json', () => {
  const root = manifestSchema.parse(lock.packages[''])
  assert.is(lock.lockfileVersion, 3)
  assert.equal(root, manifest)
  const missing = Object.keys({ ...manifest.dependencies, ...manifest.devDependencies }).filter(
    name => lock.packages[`node_modules/${name}`] === undefined,
  )
  assert.equal(missing, [])
})

test('every package has a hash and comes from the public registry, none from git, a file or another host', () => {
  assert.ok(entries.length > 100, 'the packages are found at all')
  assert.equal(
    entries.filter(entry => !isSound(entry)).map(({ path }) => path),
    [],
  )
  const specs = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies })
  assert.equal(
    specs.filter(([, spec]) => !/^(npm:(@[a-z0-9-]+\/)?[a-z0-9-]+@)?[~^]?\d+\.\d+\.\d+$/.test(spec)),
    [],
  )
})

test('a package without a hash, or from elsewhere, is noticed', () => {
  const integrity = `sha512-${'a'.repeat(86)}==`
  assert.ok(isSound({ integrity }))
  assert.ok(isSound({ integrity, resolved: 'https://registry.npmjs.org/a/-/a-1.0.0.tgz' }))
  assert.not(isSound({}))
  assert.not(isSound({ integrity: 'sha1-aaaa' }))
  assert.not(isSound({ integrity, resolved: 'https://registry.npmjs.org.example.org/a.tgz' }))
  assert.not(isSound({ integrity, resolved: 'git+ssh://git@github.com/a/a.git' }))
  assert.not(isSound({ integrity, link: true }))
})

test('every install script of a production dependency is known, with the reason why it need not run', () => {
  const found = entries
    .filter(({ dev, hasInstallScript }) => dev !== true && hasInstallScript === true)
    .map(({ path }) => path.split('node_modules/').at(-1) ?? path)
  assert.equal([...new Set(found)].sort(), Object.keys(INSTALL_SCRIPTS))
})

test(
  'journal, codec and shells work without anything that an install script has made',
  async () => {
    const program = fileURLToPath(new URL('./supply-chain/without-scripts.js', import.meta.url))
    await withFiles({}, async directory => {
      const { stdout } = await run(process.execPath, [program, directory], { timeout: 25_000 })
      const { refused, ...worked } = JSON.parse(stdout)
      assert.equal(worked, { journal: 'kept', message: 'read', shell: 'answered' })
      assert.ok(Array.isArray(refused))
    })
  },
  { deadlineMs: 30_000 },
)

const licences = join(repository, 'scripts/licences.mjs')

test('every licence is among those that may be used', async () => {
  const { stdout } = await run(process.execPath, [licences])
  assert.match(stdout, /\d{3} packages, 0 refused/)
})

test('a licence that may not be used is refused by name, in whatever form it is stated', async () => {
  const packages = {
    '': { name: 'root' },
    'node_modules/good': { version: '1.0.0', license: '(MIT OR GPL-3.0-only)' },
    'node_modules/old': { version: '1.0.0' },
    'node_modules/bad': { version: '2.0.0', license: 'GPL-3.0-only' },
    'node_modules/both': { version: '1.0.0', license: 'MIT AND GPL-3.0-only' },
    'node_modules/mute': { version: '3.0.0' },
    'node_modules/tool': { version: '1.0.0', dev: true, license: 'GPL-3.0-only' },
  }
  const files = {
    'package-lock.json': JSON.stringify({ packages }),
    'node_modules/old/package.json': JSON.stringify({ licenses: [{ type: 'MIT' }] }),
  }
  await withFiles(files, async directory => {
    const failure = await run(process.execPath, [licences, directory]).then(
      () => undefined,
      (error: { readonly code: number; readonly stderr: string }) => error,
    )
    assert.is(failure?.code, 1)
    const named = failure?.stderr
      .trim()
      .split('\n')
      .map(line => line.split(' ')[0])
    assert.equal(named, ['bad', 'both', 'mute'])
  })
})

function isSound({
  integrity,
  resolved,
  link,
}: Pick<z.output<typeof entrySchema>, 'integrity' | 'resolved' | 'link'>): boolean {
  const isHashed = integrity !== undefined && /^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity)
  return isHashed && link !== true && (resolved === undefined || resolved.startsWith('https://registry.npmjs.org/'))
}

test.run()
