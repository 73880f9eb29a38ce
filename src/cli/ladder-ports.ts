import { fileURLToPath } from 'node:url'
import type { Command } from 'commander'
import type { Work } from '../ladder/level.ts'
import type { LadderPorts } from '../ladder/ports.ts'
import type { ClientCalls, EmulatorPlace } from '../ladder/process/calls.ts'
import { type Child, startChild } from '../ladder/process/child.ts'
import type { Runtime } from '../runtimes/runtime.ts'
import { Taskset } from '../taskset/taskset.ts'
import { positiveNumber, wholeNumberFrom } from './arguments.ts'
import type { Console } from './console.ts'
import { toOneSource } from './env-argument.ts'
import { conflictingOptions, missingOption, noEnvironment } from './errors.ts'
import { type LadderClientArgument, type LadderSubject, SMALLEST } from './ladder-subject.ts'
import { addRuntimeOptions, makeRuntime, type RuntimeArguments } from './runtime-options.ts'

/** Options that mean the same in every command that measures sandboxes. */
export interface MeasuringArguments extends RuntimeArguments {
  readonly emulator?: true
  readonly speed?: number
  readonly seed: number
}

export function addMeasuringOptions(command: Command): Command {
  return addRuntimeOptions(command)
    .option('--emulator', 'on Daytona, emulated: starts an emulator of its own for each measurement')
    .option('--speed <n>', 'of that emulator (default: 1, as slow as was measured)', positiveNumber)
    .option('--seed <n>', 'of the emulator and of rollouts', wholeNumberFrom(0), 1)
}

/** What is measured and where, ready to be handed to a ladder. */
export interface Measuring {
  /** To look at before the first sandbox is made; nothing is opened by it. Undefined where an emulator is started, which can do everything. */
  readonly runtime: Runtime | undefined
  readonly runtimeName: string
  readonly ports: Omit<LadderPorts, 'signal' | 'say'>
  /** For the receipt: where sandboxes came from. */
  readonly about: Readonly<Record<string, string>>
  /** The options as they would be written to measure the same again. */
  readonly words: readonly string[]
}

/** What sandboxes are asked to do beyond answering. */
export type WorkArguments = Pick<LadderSubject, 'group' | 'agentConfig'> & {
  readonly work: Work
  readonly agent?: string
  readonly threads?: number
}

const PUBLIC_SNAPSHOT = 'daytonaio/sandbox'
const PORT = 8_765

/** Reads the tasks and checks what contradicts itself; starts nothing. */
export async function prepareMeasuring(
  tasks: string = SMALLEST,
  options: MeasuringArguments,
  work: WorkArguments,
  console: Pick<Console, 'talk'>,
): Promise<Measuring> {
  const { emulator, speed, seed, ...given } = options
  const taskset = await Taskset.load(tasks)
  if (taskset.tasks.length === 0) throw missingOption('a task', `${tasks} has none`)
  if (emulator !== true && speed !== undefined) throw missingOption('--emulator', '--speed is of the one it starts')
  if (emulator === true) refuseBeside(given)
  const environment = toOneSource(given.env, 'a ladder') ?? taskset.environment
  if (emulator === true && environment === undefined) throw noEnvironment('emulated')
  const runtime: RuntimeArguments = emulator === true ? toEmulated(given, environment ?? '') : pickRuntime(given)
  const subject: LadderSubject = {
    ...work,
    runtime,
    tasks,
    seed,
    ...(taskset.environment === undefined ? {} : { environment: taskset.environment }),
  }
  const looked = emulator === true ? undefined : await makeRuntime(runtime, taskset.environment, console)
  return {
    runtime: looked,
    runtimeName: looked?.name ?? 'daytona',
    ports: {
      startClient: (cell, place) => startClient({ subject, cell }, place),
      ...(emulator === true && environment !== undefined
        ? { emulator: { seed, speed: speed ?? 1, environmentPath: environment } }
        : {}),
    },
    about: {
      seed: String(seed),
      provider:
        emulator === true
          ? `emulated Daytona at speed ${speed ?? 1}, a fresh emulator for each strategy and level, in a process of its own on the same machine`
          : `the ${looked?.name} runtime`,
    },
    words: [
      ...(emulator === true ? ['--emulator'] : [`--runtime ${looked?.name}`]),
      ...(speed === undefined ? [] : [`--speed ${speed}`]),
      ...(given.transport === undefined ? [] : [`--transport ${given.transport}`]),
      ...(given.region === undefined ? [] : [`--region ${given.region}`]),
      `--seed ${seed}`,
    ],
  }
}

const PROGRAM = fileURLToPath(new URL('./ladder-client-main.js', import.meta.url))

function startClient(argument: LadderClientArgument, place: EmulatorPlace | undefined): Child<ClientCalls> {
  const variables = place === undefined ? {} : { DAYTONA_API_URL: place.url, DAYTONA_API_KEY: place.apiKey }
  return startChild(PROGRAM, argument, variables)
}

/** Only what says where sandboxes come from: the other options of a command are no affair of its processes. */
function pickRuntime(given: RuntimeArguments): RuntimeArguments {
  const { runtime, url, env, unsafeNoIsolation, snapshot, image, region, transport, serveCommand, autoStop } = given
  const { memory, cpus, pids, network, publishOn, namespaces } = given
  const picked = {
    ...{ runtime, url, env, unsafeNoIsolation, snapshot, image, region, transport, serveCommand, autoStop },
    ...{ memory, cpus, pids, network, publishOn, namespaces },
  }
  return Object.fromEntries(Object.entries(picked).filter(([, value]) => value !== undefined))
}

/** What an emulated sandbox is told to serve does not matter: the emulator serves the environment whatever it is. */
function toEmulated({ transport }: RuntimeArguments, environment: string): RuntimeArguments {
  return {
    runtime: 'daytona',
    snapshot: PUBLIC_SNAPSHOT,
    serveCommand: `troupe serve ${environment} --host 0.0.0.0 --port ${PORT} --insecure`,
    ...(transport === undefined ? {} : { transport }),
  }
}

function refuseBeside(given: RuntimeArguments): void {
  const others = [
    ['--runtime', given.runtime === 'daytona' ? undefined : given.runtime],
    ['--url', given.url],
    ['--snapshot', given.snapshot],
    ['--image', given.image],
    ['--region', given.region],
    ['--serve-command', given.serveCommand],
    ['--auto-stop', given.autoStop],
    ['--unsafe-no-isolation', given.unsafeNoIsolation],
  ] as const
  for (const [option, value] of others)
    if (value !== undefined) throw conflictingOptions('--emulator', option, 'the emulator that it starts decides that')
}
