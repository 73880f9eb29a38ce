import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Command, Option } from 'commander'
import { TOKEN_VARIABLE } from '../environment/serve-token.ts'
import type { Runtime } from '../runtimes/runtime.ts'
import { type Task, toPlacedTasks } from '../taskset/task.ts'
import type { Console } from './console.ts'
import {
  addDaytonaOptions,
  type DaytonaArguments,
  makeDaytonaRuntime,
  refuseDaytonaOptions,
} from './daytona-options.ts'
import { addDockerOptions, type DockerArguments, makeDockerRuntime, refuseDockerOptions } from './docker-options.ts'
import { type EnvArgument, type EnvironmentSources, toEnvArgument, toOneSource } from './env-argument.ts'
import { conflictingOptions, missingOption, noEnvironment } from './errors.ts'

const RUNTIMES = ['local', 'subprocess', 'url', 'docker', 'daytona'] as const

/** Where sandboxes come from, as options say it. */
export interface RuntimeArguments extends DaytonaArguments, DockerArguments {
  readonly runtime?: (typeof RUNTIMES)[number]
  readonly url?: string
  readonly env?: EnvArgument
  /** Where the hosts that this command starts send their spans. */
  readonly traces?: string
  /** True after `--unsafe-no-isolation`. */
  readonly unsafeNoIsolation?: true
}

export function addRuntimeOptions(command: Command): Command {
  command
    .addOption(
      new Option(
        '--runtime <name>',
        'local: one host, many sandboxes; subprocess: a host each; url: already served; docker: a container each; daytona: in the cloud',
      )
        .choices(RUNTIMES)
        .default(undefined, 'local, or url with --url'),
    )
    .option('--url <host:port>', 'the control channel of a served environment; its token is TROUPE_SERVE_TOKEN')
    .option(
      '--env <file>',
      "the environment's source (default: env.ts beside the tasks); NAME=FILE or NAME=tcp://HOST:PORT once for each of several",
      toEnvArgument,
    )
    .option('--unsafe-no-isolation', "run the agent's commands without bubblewrap, with all rights of this user")
  return addDockerOptions(addDaytonaOptions(command))
}

/** The environment host's own program, one for each sandbox. */
const HOST_PROGRAM = fileURLToPath(new URL('../environment/serve-main.js', import.meta.url))

function withOneSource<Options extends RuntimeArguments>(options: Options, beside: string) {
  const { env, ...rest } = options
  const source = toOneSource(env, beside)
  return { ...rest, ...(source === undefined ? {} : { env: source }) }
}

/** Makes the runtime that the options name; nothing is started yet. `rowsNameImages`: see `allNameImages`. Throws where the options lack or contradict something. */
export async function makeRuntime(
  options: RuntimeArguments,
  environment: string | undefined,
  console: Pick<Console, 'talk'>,
  rowsNameImages = false,
): Promise<Runtime> {
  const name = options.runtime ?? (options.url === undefined ? 'local' : 'url')
  if (name !== 'url' && options.url !== undefined)
    throw conflictingOptions('--url', `--runtime ${name}`, 'leave one of them out, or say --runtime url')
  if (name === 'docker') {
    refuseDaytonaOptions(options, name, ['image', 'serveCommand'])
    return makeDockerRuntime({ ...withOneSource(options, '--runtime docker'), rowsNameImages }, environment, console)
  }
  refuseDockerOptions(options, name)
  if (name === 'subprocess' && options.serveCommand !== undefined)
    return makeCommandRuntime(options, options.serveCommand)
  if (name === 'daytona') {
    if (options.unsafeNoIsolation === true)
      throw conflictingOptions(
        '--unsafe-no-isolation',
        '--runtime daytona',
        'it is about this machine; what serves in a sandbox is told with --serve-command',
      )
    return makeDaytonaRuntime(withOneSource(options, '--runtime daytona'), environment, console)
  }
  refuseDaytonaOptions(options, name)
  if (name === 'url') {
    if (options.url === undefined)
      throw missingOption('--url', 'the url runtime needs to know where the environment is')
    if (options.env !== undefined) throw conflictingOptions('--url', '--env', 'a served environment has its own source')
    return makeUrlRuntime(options.url)
  }
  if (typeof options.env === 'object') return makeRoutedRuntime(options.env, name, options)
  const source = options.env ?? environment
  if (source === undefined) throw noEnvironment(name)
  return makeServingRuntime(source, name, options)
}

/** Whether each of these tasks, and there are some, says which image its sandbox is made from. */
export function allNameImages(tasks: readonly Task[]): boolean {
  return tasks.length > 0 && toPlacedTasks(tasks).every(task => task.runtime_config?.image !== undefined)
}

/** A runtime for each environment, as if it were named alone. */
async function makeRoutedRuntime(
  sources: EnvironmentSources,
  name: 'local' | 'subprocess',
  options: RuntimeArguments,
): Promise<Runtime> {
  const { RoutedRuntime } = await import('../runtimes/routed.ts')
  const routes: Record<string, Runtime> = {}
  for (const [environment, source] of Object.entries(sources))
    routes[environment] = source.startsWith('tcp://')
      ? await makeUrlRuntime(source)
      : await makeServingRuntime(source, name, options)
  return new RoutedRuntime(routes)
}

async function makeUrlRuntime(url: string): Promise<Runtime> {
  const { UrlRuntime } = await import('../runtimes/url.ts')
  const token = process.env[TOKEN_VARIABLE]
  return new UrlRuntime(url, token === undefined || token === '' ? {} : { token })
}

async function makeServingRuntime(
  source: string,
  name: 'local' | 'subprocess',
  options: RuntimeArguments,
): Promise<Runtime> {
  const isolation = options.unsafeNoIsolation === true ? 'none' : 'bwrap'
  const { traces } = options
  const tracing = toTracingVariables(options)
  if (name === 'subprocess') {
    const { SubprocessRuntime } = await import('../runtimes/subprocess.ts')
    // The runtime's leash ends it with this process; its own stdin it has not.
    const flags = ['--port', '0', '--isolation', isolation, ...(traces === undefined ? [] : ['--traces', traces])]
    return new SubprocessRuntime([process.execPath, HOST_PROGRAM, resolve(source), ...flags], tracing)
  }
  const { LocalRuntime } = await import('../runtimes/local.ts')
  return new LocalRuntime(source, { isolation, ...tracing, ...(traces === undefined ? {} : { traces }) })
}

/** What OpenTelemetry's own variables say of a receiver, its key among it: for a host's process, and never for the commands in it. */
function toTracingVariables({ traces }: RuntimeArguments): { readonly variables?: Readonly<Record<string, string>> } {
  if (traces === undefined) return {}
  const isMeant = (name: string) => name.startsWith('OTEL_EXPORTER_OTLP_') || name === 'OTEL_RESOURCE_ATTRIBUTES'
  const variables = Object.entries(process.env).flatMap(([name, value]) =>
    isMeant(name) && value !== undefined ? [[name, value] as const] : [],
  )
  return { variables: Object.fromEntries(variables) }
}

/** Any command that serves and says where: `python -m hud.environment.server env.py`. How it isolates is its own business. */
async function makeCommandRuntime(options: RuntimeArguments, command: string): Promise<Runtime> {
  refuseDaytonaOptions(options, 'subprocess', ['serveCommand'])
  if (options.env !== undefined)
    throw conflictingOptions('--env', '--serve-command', 'the command names what it serves')
  if (options.unsafeNoIsolation === true)
    throw conflictingOptions('--unsafe-no-isolation', '--serve-command', 'the command says how its sandbox is isolated')
  const { SubprocessRuntime } = await import('../runtimes/subprocess.ts')
  return new SubprocessRuntime(['/bin/sh', '-c', command])
}
