import { basename, dirname, relative, resolve } from 'node:path'
import { systemClock } from '../../clock.ts'
import { noteSecretsOf } from '../../redact.ts'
import { badOption, dockerfileOutside } from './errors.ts'
import type { DockerRuntimeOptions } from './options.ts'

/** What containers are made from. */
export type ImageSource =
  | { readonly kind: 'image'; readonly name: string }
  | {
      readonly kind: 'dockerfile'
      readonly path: string
      readonly context: string
      /** The Dockerfile's path in the context. */
      readonly inContext: string
      /** What the built image is called. */
      readonly name: string
    }

type Defaulted = 'port' | 'withToken' | 'variables' | 'pids' | 'namespaces' | 'startDeadlineMs' | 'clock'

/** A runtime's options with every default in place that needs no look at the outside. */
export interface DockerSettings
  extends Omit<DockerRuntimeOptions, Defaulted | 'image' | 'dockerfile' | 'context'>,
    Required<Pick<DockerRuntimeOptions, Defaulted>> {
  readonly source: ImageSource
}

/** What the engine itself asks for at the least. */
export const LEAST_MEMORY_BYTES = 6 * 1024 ** 2
/** None of them publishes a port. */
const UNREACHABLE_NETWORKS = /^(none|host|container:.*)$/

/** Throws `docker-bad-option`, so that what nobody could have meant is said before anything is asked of the engine. */
export function toDockerSettings({ image, dockerfile, context, ...options }: DockerRuntimeOptions): DockerSettings {
  noteSecretsOf(options.variables ?? {})
  const source = toSource({ image, dockerfile, context })
  const settings = {
    ...options,
    source,
    port: options.port ?? 8765,
    withToken: options.withToken ?? false,
    variables: options.variables ?? {},
    pids: options.pids ?? 2_048,
    namespaces: options.namespaces ?? source.kind === 'dockerfile',
    startDeadlineMs: options.startDeadlineMs ?? 60_000,
    clock: options.clock ?? systemClock,
  }
  const { port, pids, memoryBytes, cpus, network, command, startDeadlineMs, variables } = settings
  if (!isWhole(port) || port > 65_535) throw badOption('port', port, 'a port, 1 to 65535')
  if (!isWhole(pids)) throw badOption('pids', pids, 'a whole number, 1 at least')
  if (memoryBytes !== undefined && !(isWhole(memoryBytes) && memoryBytes >= LEAST_MEMORY_BYTES))
    throw badOption('memoryBytes', memoryBytes, `a whole number of bytes, ${LEAST_MEMORY_BYTES} at least`)
  if (cpus !== undefined && !(Number.isFinite(cpus) && cpus >= 0.01))
    throw badOption('cpus', cpus, 'a number of CPUs, 0.01 at least')
  if (network !== undefined && (network.trim() === '' || UNREACHABLE_NETWORKS.test(network)))
    throw badOption('network', network, 'a network that publishes ports, without which no container can be reached')
  if (command !== undefined && command.trim() === '') throw badOption('command', command, 'what serves')
  if (!(startDeadlineMs > 0)) throw badOption('startDeadlineMs', startDeadlineMs, 'a number of milliseconds above 0')
  for (const name of Object.keys(variables))
    if (!/^[A-Za-z_]\w*$/.test(name)) throw badOption('variables', name, 'names of letters, digits and _')
  return settings
}

function toSource({
  image,
  dockerfile,
  context,
}: { [Name in 'image' | 'dockerfile' | 'context']: string | undefined }): ImageSource {
  if (image !== undefined) {
    if (dockerfile !== undefined) throw badOption('image', image, 'left out beside `dockerfile`')
    if (!/^\S+$/.test(image)) throw badOption('image', image, "an image's name")
    return { kind: 'image', name: image }
  }
  const path = resolve(dockerfile ?? 'Dockerfile.hud')
  const folder = resolve(context ?? dirname(path))
  const inContext = relative(folder, path)
  if (inContext.startsWith('..') || resolve(folder, inContext) !== path) throw dockerfileOutside(path, folder)
  return { kind: 'dockerfile', path, context: folder, inContext, name: toImageName(folder) }
}

/** `troupe-calc:latest` for `environments/calc`. */
function toImageName(folder: string): string {
  const word = basename(folder)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
  return `troupe-${word === '' ? 'environment' : word}:latest`
}

const isWhole = (value: number): boolean => Number.isSafeInteger(value) && value >= 1
