import { Command, Option } from 'commander'
import type { ClusterOptions } from '../cluster/options.ts'
import { toSharedPath } from '../cluster/places.ts'
import type { Task } from '../taskset/task.ts'
import { positiveNumber } from './arguments.ts'
import { conflictingOptions, missingOption } from './errors.ts'
import { addRuntimeOptions, allNameImages, type RuntimeArguments } from './runtime-options.ts'

/** Whether rollouts run on workers, as options say it. */
export interface ClusterArguments {
  readonly cluster?: string
  /** Seconds. */
  readonly redeliverAfter?: number
}

export function addClusterOptions(command: Command): Command {
  return command
    .option('--cluster <nats>', 'run the rollouts on workers (troupe worker) that find the job at nats://HOST:PORT')
    .addOption(
      new Option(
        '--redeliver-after <seconds>',
        'with --cluster: a worker that is silent for so long loses its groups to others (default: 30)',
      ).argParser(positiveNumber),
    )
}

interface Given extends ClusterArguments, RuntimeArguments {
  readonly threads?: number
  readonly maxSandboxes?: number
}

/** What the job is told; empty without `--cluster`. Throws where options contradict each other. */
export function toClusterOptions(
  options: Given,
  environment: string | undefined,
  tasks: readonly Task[],
): { readonly cluster?: ClusterOptions } {
  const { cluster, redeliverAfter, threads, maxSandboxes } = options
  if (cluster === undefined) {
    if (redeliverAfter !== undefined) throw missingOption('--cluster', '--redeliver-after is about its workers')
    return {}
  }
  const ofWorkers = [
    ['--threads', threads],
    ['--max-sandboxes', maxSandboxes],
  ] as const
  for (const [name, value] of ofWorkers)
    if (value !== undefined)
      throw conflictingOptions('--cluster', name, 'each worker has its own: troupe worker --help')
  const directory = process.cwd()
  return {
    cluster: {
      nats: cluster,
      ...(redeliverAfter === undefined ? {} : { redeliverMs: Math.round(redeliverAfter * 1_000) }),
      runtime: {
        arguments: toRuntimeData(options, directory),
        ...(environment === undefined ? {} : { environment: toSharedPath(environment, directory) }),
        rowsNameImages: allNameImages(tasks),
      },
    },
  }
}

/** The options of the command that are about what workers do. */
function toRuntimeData(options: Given, directory: string): Readonly<Record<string, unknown>> {
  const given: Readonly<Record<string, unknown>> = { ...options }
  const chosen = runtimeNames().flatMap(name => (given[name] === undefined ? [] : [[name, given[name]] as const]))
  const { env } = options
  const shared = typeof env === 'string' ? { env: toSharedPath(env, directory) } : {}
  return { ...Object.fromEntries(chosen), ...shared }
}

/** As the command's own parser calls the options that say how sandboxes are made, and where environments send their spans. */
function runtimeNames(): readonly string[] {
  const ofRuntimes = addRuntimeOptions(new Command()).options.map(option => option.attributeName())
  return [...ofRuntimes, 'traces' satisfies keyof RuntimeArguments]
}

/** What a coordinator of the same version has written: looked at as far as a mistake could do harm. */
export function parseRuntimeData(data: Readonly<Record<string, unknown>>): RuntimeArguments {
  const names = runtimeNames()
  const known = Object.entries(data).filter(([name]) => names.includes(name))
  return Object.fromEntries(known) as RuntimeArguments
}
