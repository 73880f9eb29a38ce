/** The folder list is the architecture: these are its rules, proved from the imports that the sources state. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import * as assert from 'uvu/assert'
import { findImports, readSources, repository, type SourceImport } from './support/source-imports.ts'
import { suite } from './support/suite.ts'

const test = suite('architecture')

interface Rule {
  readonly says: string
  readonly from: RegExp
  readonly except?: RegExp
  /** What must not be imported; or, negated with `only`, what may be. */
  readonly never?: RegExp
  readonly only?: RegExp
}

const RULES: readonly Rule[] = [
  {
    says: 'src imports no actors, except the assemblies and the CLI',
    from: /^src\//,
    except: /^src\/(assembly|cli)\//,
    never: /^actors\//,
  },
  { says: 'only the CLI imports the CLI', from: /^(src|actors)\//, except: /^src\/cli\//, never: /^src\/cli\// },
  {
    says: 'nothing imports bench, environments, examples or tests',
    from: /^(src|actors)\//,
    never: /^(bench|environments|examples|test|dist[^/]*)\//,
  },
  {
    says: 'wire knows no agents, environments, runtimes',
    from: /^src\/wire\//,
    never: /^src\/(agents|environment|runtimes|rollout|taskset|job|assembly)\//,
  },
  { says: 'agents know no runtimes', from: /^src\/agents\//, never: /^src\/(runtimes|pool|job|assembly)\// },
  {
    says: 'environments know no agents, runtimes or jobs',
    from: /^src\/environment\//,
    never: /^src\/(agents|runtimes|pool|job|assembly|stream)\//,
  },
  {
    says: 'the kernel stands on clock, errors, ids and random alone',
    from: /^src\/kernel\//,
    only: /^(src\/(kernel\/|(clock|errors|ids|random)\.ts$)|node:|(?!src\/|actors\/)[a-z@])/,
  },
  {
    says: 'threads carry actors without knowing which',
    from: /^src\/threads\//,
    never: /^src\/(agents|environment|rollout|taskset|wire|job|assembly|pool)\//,
  },
  {
    says: 'stream and journal know no engine',
    from: /^src\/(stream|journal)\//,
    never: /^src\/(assembly|kernel|threads|pool|job|wire|environment)\//,
  },
  {
    says: 'the library behind the policy is known in one file',
    from: /^(src|actors)\//,
    except: /^src\/policy\/jax\/library\.ts$/,
    never: /^@jax-js\//,
  },
  {
    says: 'OpenTelemetry is known to the traces alone',
    from: /^(src|actors)\//,
    except: /^src\/telemetry\/traces\//,
    never: /^@opentelemetry\//,
  },
  {
    says: 'the policy knows no agents, environments, runtimes or jobs: it is one more model',
    from: /^src\/policy\//,
    never: /^src\/(agents|environment|runtimes|rollout|taskset|job|training|assembly|wire)\//,
  },
  {
    says: 'an account at Daytona knows nothing of what is done with it',
    from: /^src\/runtimes\/daytona\/(account|events)\//,
    never: /^src\/runtimes\/daytona\/(sandbox|snapshot|reach|provider-pool|reap|[a-z-]+\.ts$)/,
  },
  {
    says: 'reports are made from data alone',
    from: /^src\/report\//,
    never: /^(src\/(assembly|cli|journal|kernel|threads|wire|environment)\/|node:)/,
  },
]

function violations(imports: readonly SourceImport[]): string[] {
  return RULES.flatMap(({ says, from, except, never, only }) =>
    imports
      .filter(each => from.test(each.from) && except?.test(each.from) !== true)
      .filter(({ to }) => never?.test(to) === true || (only !== undefined && !only.test(to)))
      .map(({ from: file, to }) => `${file} imports ${to}: ${says}`),
  )
}

const sources = readSources('src', 'actors')
const imports = sources.flatMap(file => file.imports)

test('dependencies point one way', () => {
  assert.ok(imports.length > 100, 'the imports are found at all')
  assert.equal(violations(imports), [])
})

test('a forbidden import is noticed, in whatever form it is written', () => {
  const forms = [
    `import { pool } from '../../actors/sandbox-pool.ts'`,
    `import type { Lease } from '../../actors/messages.ts'`,
    `export { pool } from '../../actors/sandbox-pool.ts'`,
    `import {\n  one,\n  two,\n} from '../../actors/messages.ts'`,
    `import '../../actors/messages.ts'`,
    `const { pool } = await import('../../actors/sandbox-pool.ts')`,
    `start(new URL('../../actors/shard.js', import.meta.url))`,
  ]
  for (const form of forms) {
    assert.is(violations(findImports('src/stream/batch.ts', form)).length, 1, form)
    assert.equal(violations(findImports('src/assembly/local.ts', form)), [], form)
  }
  assert.equal(
    violations(findImports('src/wire/a.ts', `/** import x from '../agents/agent.ts' */\n// import '../agents/a.ts'`)),
    [],
  )
  assert.is(violations(findImports('src/kernel/a.ts', `import { z } from '../wire/frame.ts'`)).length, 1)
})

test('every import of a file names one that is there, with its ending', () => {
  const broken = imports.filter(({ to }) => /^(src|actors)\//.test(to) && !existsSync(join(repository, to)))
  assert.equal(broken, [])
})

test('folders do not run in circles: no file imports, over another folder, its own importer', () => {
  const edges = sources.flatMap(file => file.imports).filter(each => !each.typeOnly)
  assert.equal(findCircles(edges), [])
  const edge = (from: string, to: string) => ({ from, to, typeOnly: false })
  assert.equal(findCircles([edge('a/x', 'b/x'), edge('b/x', 'b/y'), edge('b/y', 'a/x'), edge('b/y', 'b/x')]), [
    'a/x → b/x',
    'b/y → a/x',
  ])
})

test('no source file is longer than 300 lines', () => {
  assert.equal(
    sources.filter(({ lines }) => lines > 300).map(({ path, lines }) => `${path}: ${lines}`),
    [],
  )
})

test('an index only re-exports', () => {
  for (const { path } of sources.filter(each => /(^|\/)index\.ts$/.test(each.path))) {
    const code = readFileSync(join(repository, path), 'utf8').replaceAll(/\/\*[\s\S]*?\*\//g, '')
    const rest = code.replaceAll(/export (type )?(\*|\{[^}]*\})( as \w+)? from '[^']+'/g, '').trim()
    assert.is(rest, '', `${path} holds more than re-exports`)
  }
})

test('folders are named for what they are, and the README tells what each is for', () => {
  const folders = readdirSync(join(repository, 'src'), { withFileTypes: true }).filter(entry => entry.isDirectory())
  const readme = readFileSync(join(repository, 'README.md'), 'utf8')
  const filled = folders
    .map(({ name }) => name)
    .filter(name => sources.some(({ path }) => path.startsWith(`src/${name}/`)))
  for (const name of filled) {
    assert.not.match(name, /^(utils?|common|helpers?|misc|shared|lib)$/)
    assert.ok(readme.includes(`\`${name}\``), `README.md does not tell what src/${name} is for`)
  }
})

test('every package that is imported is a dependency, and CONTRIBUTING.md says why', () => {
  const found: unknown = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8'))
  const { dependencies = {}, devDependencies = {} } = found as Record<string, Record<string, string> | undefined>
  const imported = new Set(
    imports.map(({ to }) => to).filter(to => /^[a-z@]/.test(to) && !/^(src|actors)\/|^node:/.test(to)),
  )
  const packages = [...imported].map(name =>
    name
      .split('/')
      .slice(0, name.startsWith('@') ? 2 : 1)
      .join('/'),
  )
  assert.equal(
    [...new Set(packages)].filter(name => dependencies[name] === undefined),
    [],
  )
  const contributing = readFileSync(join(repository, 'CONTRIBUTING.md'), 'utf8')
  for (const name of Object.keys({ ...dependencies, ...devDependencies }))
    assert.ok(contributing.includes(`\`${name}\``), `CONTRIBUTING.md gives no reason for ${name}`)
})

/** Imports into another folder from which a way leads back. Within a folder, files may need each other. */
function findCircles(edges: readonly SourceImport[]): string[] {
  const targets = new Map<string, string[]>()
  for (const { from, to } of edges) targets.set(from, [...(targets.get(from) ?? []), to])
  const reaches = (start: string, goal: string): boolean => {
    const seen = new Set([start])
    for (const file of seen) {
      if (file === goal) return true
      for (const next of targets.get(file) ?? []) seen.add(next)
    }
    return false
  }
  return edges
    .filter(({ from, to }) => dirname(from) !== dirname(to) && reaches(to, from))
    .map(({ from, to }) => `${from} → ${to}`)
}

test.run()
