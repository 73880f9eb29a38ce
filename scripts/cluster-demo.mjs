/**
 * Several machines on one: `npm run cluster:demo`. Starts a nats-server, two workers and a training of the arith tasks as processes of their own, tells what
 * each of them says, and ends and removes all of it, after Ctrl-C too. What follows `--` is passed on to `troupe train`. Expects a build.
 */
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const built = path => join(root, 'dist', path)
if (!existsSync(built('test/cluster/support/nats.js'))) {
  process.stderr.write('cluster-demo: there is no build: run npm run build\n')
  process.exit(1)
}
const { startNats } = await import(built('test/cluster/support/nats.js'))
const { leashed } = await import(built('src/runtimes/leash.js'))

const WORKERS = ['worker-1', 'worker-2']
const TRAINING = ['--task-ids', '0-7', '--group', '4', '--steps', '2', '--no-eval', '--seed', '1']
/** For a worker to end after SIGTERM, with nothing left to do. */
const END_MS = 30_000

const directory = await mkdtemp(join(tmpdir(), 'troupe-demo-'))
// Stands by for a kill -9 of this process: by then the processes below have ended themselves.
const janitor = spawn('/bin/sh', ['-c', 'read -r line; sleep 6; rm -rf "$1"', 'janitor', directory], {
  stdio: ['pipe', 'ignore', 'ignore'],
  detached: true,
})
const nats = await startNats()
const url = nats.urls.join(',')
say('demo', `nats-server listens at ${url}`)
/** Processes that are to be ended, the last first. */
const running = []
let isInterrupted = false
for (const signal of ['SIGINT', 'SIGTERM'])
  process.on(signal, () => {
    if (!isInterrupted) say('demo', `${signal}: ending all of it`)
    isInterrupted = true
    // The training ends in order at the first, at once at the second; what comes after it ends the rest.
    running.at(-1)?.tell('SIGTERM')
  })

let status = 1
try {
  for (const name of WORKERS) start(name, ['worker', '--nats', url, '--threads', '1', '--max-concurrent', '8'])
  const journal = join(directory, 'journal')
  const given = process.argv.slice(2)
  const training = start('training', [
    ...['train', join(root, 'environments/arith'), '--cluster', url, ...TRAINING],
    ...['--journal', journal, '--policies', join(directory, 'policies'), '--out', directory, '--no-report', ...given],
  ])
  status = (await training.over) ?? 1
  running.pop()
  if (status === 0) {
    say('demo', 'what the journal of the training holds:')
    await start('runs', ['runs', '--journal', journal]).over
    running.pop()
  }
} finally {
  for (const each of running.reverse()) each.tell('SIGTERM')
  await Promise.all(running.map(each => each.endWithin(END_MS)))
  await nats.close()
  await rm(directory, { recursive: true, force: true })
  janitor.kill('SIGKILL')
}
say('demo', 'the workers and nats-server have ended, and nothing is left of them')
process.exitCode = isInterrupted ? 130 : status

/** `troupe` with these arguments. It ends with this process, however that ends. */
function start(name, argv) {
  const [file, ...args] = leashed([process.execPath, built('src/cli/main.js'), ...argv])
  const child = spawn(file, args, { cwd: directory, stdio: ['pipe', 'pipe', 'pipe'], detached: true })
  for (const stream of [child.stdout, child.stderr])
    createInterface({ input: stream }).on('line', line => say(name, line))
  const over = new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  const tell = signal => {
    if (child.exitCode === null && child.pid !== undefined) process.kill(-child.pid, signal)
  }
  const entry = {
    over,
    tell,
    async endWithin(ms) {
      const timer = setTimeout(() => tell('SIGKILL'), ms)
      await over
      clearTimeout(timer)
    },
  }
  running.push(entry)
  return entry
}

function say(name, text) {
  process.stdout.write(`${name.padEnd(8)} │ ${text}\n`)
}
