/**
 * A training on one machine, and the same on three workers in network namespaces beside a cluster of three NATS servers, while one worker is killed, one is cut off and
 * comes back, and the leading server is killed. Prints one line of JSON. Wants to be started in a network of its own, see namespaces.ts.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { jetstreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import { STREAMS } from '../../src/cluster/names.ts'
import { type Nats, startNats } from '../../test/cluster/support/nats.ts'
import { Scene } from '../../test/end-to-end/scene.ts'
import { makeBenchDirectory } from '../directory.ts'
import { compareJournals, type JournalDifference } from './compare-journals.ts'
import { type Host, openNetwork } from './namespaces.ts'
import { type Program, startProgram, startWorker } from './worker.ts'

export interface FaultsCase {
  readonly steps: number
  readonly group: number
  readonly seed: number
  /** After so many seconds of silence groups go to others. Half of it is what an election, or a busy machine, may take without any being given up. */
  readonly redeliverS: number
}

export interface FaultsFigures extends JournalDifference {
  readonly planned: number
  readonly aloneMs: number
  readonly clusteredMs: number
  /** What was done to it, and how many runs the journal had by then. */
  readonly faults: readonly Fault[]
  /** Of the worker that was cut off: in the same training once it was back, if that was not over by then, and alone in a step of another. */
  readonly healedRollouts: number
  readonly nextRollouts: number
  /** Processes, and what is in their temporary directory, once all had ended. */
  readonly left: readonly string[]
  /** What workers and coordinator warned of. */
  readonly warnings: readonly string[]
}

export interface Fault {
  readonly what: string
  readonly durable: number
}

const TASKS = fileURLToPath(new URL('../../../environments/arith', import.meta.url))
const TASK_COUNT = 16
const WIDTH = 16
const LOOK_MS = 50
const LEFT_MS = 20_000

const { steps, group, seed, redeliverS }: FaultsCase = JSON.parse(process.argv[2] ?? '{}')
const planned = steps * group * TASK_COUNT
const { directory, remove } = await makeBenchDirectory()
const network = await openNetwork(['worker-1', 'worker-2', 'worker-3', 'nats-1', 'nats-2', 'nats-3'])
const scene = new Scene(directory)
const owned = { cwd: directory, variables: { TMPDIR: scene.temporary } }
mkdirSync(scene.temporary, { mode: 0o711 })
try {
  console.log(JSON.stringify(await show()))
} finally {
  await network.close()
  remove()
}

async function show(): Promise<FaultsFigures> {
  const alone = join(directory, 'alone')
  const aloneMs = await endOf(train(alone))
  say(`on one machine: ${planned} rollouts in ${Math.round(aloneMs / 1_000)} s`)
  const [workers, servers] = [network.hosts.slice(0, 3), network.hosts.slice(3)]
  await using nats = await startNats({
    cluster: 3,
    hosts: servers.map(({ address }) => address),
    prefixes: servers.map(({ prefix }) => prefix),
  })
  const url = nats.urls.join(',')
  const running: Program[] = []
  try {
    const argv = ['--threads', '1', '--max-concurrent', `${WIDTH}`]
    for (const { prefix } of workers) running.push(await startWorker(url, argv, { ...owned, prefix }))
    const training = train(scene.journal, '--cluster', url, '--redeliver-after', `${redeliverS}`)
    running.push(training)
    const over = endOf(training)
    const faults = await Promise.race([doHarm(nats, running, workers), over.then(tooEarly)])
    const clusteredMs = await over
    const [, cut, third] = running
    await third?.end()
    await endOf(train(join(directory, 'next'), '--cluster', url, '--steps', '1'))
    await Promise.all(running.map(program => program.end()))
    const [nextRollouts = 0, healedRollouts = 0] = rolloutsSinceAnew(cut)
    const difference = await compareJournals(alone, scene.journal, planned)
    const left = await leftovers()
    const warnings = warningsOf(running)
    return { ...difference, planned, aloneMs, clusteredMs, faults, healedRollouts, nextRollouts, left, warnings }
  } finally {
    await Promise.all(running.map(program => program.end()))
  }
}

/** Each at a share of the work, so that all of them meet it in the middle. */
async function doHarm(nats: Nats, [first]: readonly Program[], [, second]: readonly Host[]): Promise<readonly Fault[]> {
  if (first === undefined || second === undefined) throw new Error('three workers were started')
  const faults: Fault[] = []
  const harm = async (share: number, what: string, act: () => Promise<unknown> | unknown) => {
    await until(async () => (await countDurable()) >= planned * share)
    await act()
    const durable = await countDurable()
    faults.push({ what, durable })
    say(`${what}, with ${durable} of ${planned} runs in the journal`)
  }
  await harm(0.15, 'worker-1 killed', () => process.kill(first.pid, 'SIGKILL'))
  await harm(0.3, 'worker-2 cut off', second.cut)
  await harm(0.45, 'the leading NATS server killed', () => killLeader(nats))
  // A step ends with its last group: others have rolled out by then what it had.
  await harm(0.7, 'worker-2 back', second.heal)
  return faults
}

function train(journal: string, ...more: string[]): Program {
  const own = ['--journal', journal, '--policies', `${journal}-policies`, '--out', `${journal}-out`]
  const size = ['--steps', `${steps}`, '--group', `${group}`, '--max-concurrent', `${3 * WIDTH}`]
  const given = ['--seed', `${seed}`, '--no-eval', '--no-report', '--policy-host', network.address]
  return startProgram(['train', TASKS, ...size, ...given, ...own, ...more], owned)
}

/** Milliseconds until it has ended well; rejects with what it said where it did not. */
async function endOf(program: Program): Promise<number> {
  const startedAt = performance.now()
  const { code } = await program.ended
  if (code !== 0) throw new Error(`the training ended with ${code}:\n${program.stderr()}`)
  return performance.now() - startedAt
}

function tooEarly(): never {
  throw new Error('the training was over before all the harm was done')
}

/** The one that decides what is in the stream of plans. */
async function killLeader(nats: Nats): Promise<void> {
  const connection = await connect({ servers: nats.urls })
  const { cluster } = await (await jetstreamManager(connection)).streams.info(STREAMS.plans)
  await connection.close()
  const leader = nats.servers.find(({ name }) => name === cluster?.leader)
  if (leader === undefined) throw new Error(`${STREAMS.plans} has no leader`)
  await leader.kill()
}

async function countDurable(): Promise<number> {
  return (await scene.durable()).length
}

/** What is left once everybody had time to end. */
async function leftovers(): Promise<readonly string[]> {
  const giveUpAt = performance.now() + LEFT_MS
  await until(async () => scene.leftovers().length === 0 || performance.now() > giveUpAt)
  return scene.leftovers()
}

function warningsOf(programs: readonly Program[]): readonly string[] {
  return programs.flatMap(program => program.stderr().match(/^.*warning: .*$/gm) ?? [])
}

/** What a worker says that it has done each time that it has joined a job, but for the first: the last first. */
function rolloutsSinceAnew(worker: Program | undefined): readonly number[] {
  const [, , ...anew] = (worker?.stderr() ?? '').split('working for ')
  return anew.map(said => Number(/ is over here, after (\d+) rollouts/.exec(said)?.[1] ?? 0)).reverse()
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await sleep(LOOK_MS)
}

function say(line: string): void {
  process.stderr.write(`  ${line}\n`)
}
