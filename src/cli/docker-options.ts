import { existsSync, statSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import type { Command } from 'commander'
import type { DockerRuntimeOptions } from '../runtimes/docker/options.ts'
import type { Runtime } from '../runtimes/runtime.ts'
import { positiveNumber, toBytes, wholeNumberFrom } from './arguments.ts'
import type { Console } from './console.ts'
import { IMAGE_DIRECTORY, IMAGE_FILE, PORT, toImagePath } from './daytona-options.ts'
import { conflictingOptions, noImage } from './errors.ts'

/** What containers of `--runtime docker` are beyond their image, as options say it. */
export interface DockerArguments {
  readonly memory?: number
  readonly cpus?: number
  readonly pids?: number
  readonly network?: string
  readonly publishOn?: string
  /** True after `--namespaces`. */
  readonly namespaces?: true
}

export function addDockerOptions(command: Command): Command {
  return command
    .option('--memory <size>', 'docker: of one container, such as 2GiB (default: no limit)', toBytes)
    .option('--cpus <n>', 'docker: of one container, such as 0.5 (default: no limit)', positiveNumber)
    .option('--pids <n>', 'docker: processes and threads of one container (default: 2048)', wholeNumberFrom(1))
    .option('--network <name>', "docker: a network that publishes ports (default: the engine's own)")
    .option('--publish-on <address>', "docker: of the engine's machine, where it is not this one")
    .option('--namespaces', 'docker: let the image make user namespaces, for bubblewrap (default: if built here)')
}

const OPTION_NAMES: readonly (readonly [keyof DockerArguments, option: string])[] = [
  ['memory', '--memory'],
  ['cpus', '--cpus'],
  ['pids', '--pids'],
  ['network', '--network'],
  ['publishOn', '--publish-on'],
  ['namespaces', '--namespaces'],
]

/** Throws for the first option that only makes sense with `--runtime docker`. */
export function refuseDockerOptions(options: DockerArguments, runtime: string): void {
  for (const [key, name] of OPTION_NAMES)
    if (options[key] !== undefined)
      throw conflictingOptions(name, `--runtime ${runtime}`, 'it is for containers of --runtime docker')
}

/** What is known before anything is loaded or asked. */
export interface DockerPlan {
  readonly options: DockerRuntimeOptions
  /** What was chosen without having been said. */
  readonly told: string
}

export interface DockerPlace {
  /** The working directory. */
  readonly directory: string
  readonly isFile: (path: string) => boolean
}

export interface DockerRequest extends DockerArguments {
  /** A Dockerfile where there is one of that path, else an image's name. */
  readonly image?: string
  /** A path in the image. */
  readonly env?: string
  readonly serveCommand?: string
  readonly unsafeNoIsolation?: true
  /** Every task says which image its container is made from. */
  readonly rowsNameImages?: boolean
}

/**
 * Pure. `environment` is the source beside the tasks. A Dockerfile beside it serves as its own command says; one in the working directory serves the environments below
 * that directory. Throws `no-image`, `conflicting-options` and `outside-of-image`.
 */
export function planDocker(request: DockerRequest, environment: string | undefined, place: DockerPlace): DockerPlan {
  const { env, serveCommand, unsafeNoIsolation, namespaces, memory, cpus, pids, network, publishOn } = request
  if (env !== undefined && serveCommand !== undefined)
    throw conflictingOptions('--env', '--serve-command', 'the command names what it serves')
  const from = findImage(request, environment, place)
  const isOwn = from.dockerfile === join(place.directory, IMAGE_FILE) && !from.isBeside
  const file = env ?? (isOwn && serveCommand === undefined ? environment : undefined)
  if (unsafeNoIsolation === true && file === undefined)
    throw conflictingOptions(
      '--unsafe-no-isolation',
      '--runtime docker',
      'what serves is the command of the image; say it with --serve-command, or which file of the image with --env',
    )
  const command = serveCommand ?? (file === undefined ? undefined : toCommand(file, env === undefined, request, place))
  const isOpen = namespaces ?? (unsafeNoIsolation === true ? false : undefined)
  const { dockerfile, image } = from
  return {
    options: {
      ...(dockerfile === undefined ? {} : { dockerfile }),
      ...(image === undefined ? {} : { image }),
      ...(command === undefined ? {} : { command }),
      ...(file === undefined ? {} : { withToken: true }),
      ...(memory === undefined ? {} : { memoryBytes: memory }),
      ...(cpus === undefined ? {} : { cpus }),
      ...(pids === undefined ? {} : { pids }),
      ...(network === undefined ? {} : { network }),
      ...(publishOn === undefined ? {} : { publishOn }),
      ...(isOpen === undefined ? {} : { namespaces: isOpen }),
    },
    told: [
      `docker: ${toOrigin(from, place)}`,
      `served by ${command ?? "the image's own command"}`,
      ...((isOpen ?? dockerfile !== undefined)
        ? ["seccomp and AppArmor lifted for the server's bubblewrap (--unsafe-no-isolation keeps them where it can)"]
        : []),
    ].join('; '),
  }
}

/** Nothing is asked of the engine yet. */
export async function makeDockerRuntime(
  request: DockerRequest,
  environment: string | undefined,
  console: Pick<Console, 'talk'>,
): Promise<Runtime> {
  const plan = planDocker(request, environment, {
    directory: process.cwd(),
    isFile: path => existsSync(path) && statSync(path).isFile(),
  })
  const { DockerRuntime } = await import('../runtimes/docker/docker-runtime.ts')
  const runtime = new DockerRuntime({ ...plan.options, onImageLog: line => console.talk(line) })
  console.talk(plan.told)
  return runtime
}

interface Found {
  readonly dockerfile?: string
  readonly image?: string
  readonly isBeside: boolean
}

function toOrigin({ dockerfile, image }: Found, { directory }: DockerPlace): string {
  if (dockerfile !== undefined) return `built from ${relative(directory, dockerfile)}`
  return image === undefined ? 'the images that the tasks name' : `image ${image}`
}

function findImage(
  { image: given, rowsNameImages }: DockerRequest,
  environment: string | undefined,
  { directory, isFile }: DockerPlace,
): Found {
  const folder = environment === undefined ? undefined : dirname(resolve(directory, environment))
  if (given !== undefined) {
    const path = resolve(directory, given)
    return isFile(path) ? { dockerfile: path, isBeside: dirname(path) === folder } : { image: given, isBeside: false }
  }
  const beside = folder === undefined ? undefined : join(folder, IMAGE_FILE)
  if (beside !== undefined && isFile(beside)) return { dockerfile: beside, isBeside: true }
  const own = join(directory, IMAGE_FILE)
  if (!isFile(own) && rowsNameImages === true) return { isBeside: false }
  if (!isFile(own)) throw noImage(IMAGE_FILE)
  return { dockerfile: own, isBeside: false }
}

/** With a token of the runtime's own, since whoever is on this machine reaches the port. */
function toCommand(file: string, isHere: boolean, request: DockerRequest, { directory }: DockerPlace): string {
  const isolation = request.unsafeNoIsolation === true ? ' --unsafe-no-isolation' : ''
  const path = toImagePath(file, isHere, directory)
  return `cd ${IMAGE_DIRECTORY} && exec troupe serve ${path} --host 0.0.0.0 --port ${PORT}${isolation}`
}
