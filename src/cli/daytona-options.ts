import { existsSync } from 'node:fs'
import { basename, dirname, extname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { type Command, Option } from 'commander'
import type { DaytonaRuntimeOptions, Transport } from '../runtimes/daytona/options.ts'
import type { Runtime } from '../runtimes/runtime.ts'
import { wholeNumberFrom } from './arguments.ts'
import type { Console } from './console.ts'
import { conflictingOptions, missingOption, noSnapshot, outsideOfImage } from './errors.ts'

/** How sandboxes of `--runtime daytona` are made and reached, as options say it. */
export interface DaytonaArguments {
  readonly snapshot?: string
  readonly image?: string
  readonly region?: string
  readonly transport?: Transport | 'auto'
  readonly serveCommand?: string
  readonly autoStop?: number
}

export function addDaytonaOptions(command: Command): Command {
  return command
    .option('--snapshot <name>', 'daytona: what sandboxes are made from (default: troupe-ENVIRONMENT)')
    .option(
      '--image <dockerfile>',
      `daytona, docker: what is built (default: ${IMAGE_FILE}); docker: or an image's name`,
    )
    .option('--region <name>', "daytona: where sandboxes are (default: DAYTONA_TARGET, or the account's own)")
    .addOption(
      new Option('--transport <name>', 'daytona: how sandboxes are reached (default: auto)').choices([
        'auto',
        'ssh',
        'websocket',
      ]),
    )
    .option('--serve-command <command>', 'subprocess, docker, daytona: what serves the environment in a sandbox')
    .option('--auto-stop <minutes>', 'daytona: end sandboxes that nobody touched for so long', wholeNumberFrom(1))
}

const OPTION_NAMES: readonly (readonly [keyof DaytonaArguments, option: string])[] = [
  ['snapshot', '--snapshot'],
  ['image', '--image'],
  ['region', '--region'],
  ['transport', '--transport'],
  ['serveCommand', '--serve-command'],
  ['autoStop', '--auto-stop'],
]

/** Throws for the first option that only makes sense with `--runtime daytona`, but for those that are taken there too. */
export function refuseDaytonaOptions(
  options: DaytonaArguments,
  runtime: string,
  taken: readonly (keyof DaytonaArguments)[] = [],
): void {
  for (const [key, name] of OPTION_NAMES)
    if (options[key] !== undefined && !taken.includes(key))
      throw conflictingOptions(name, `--runtime ${runtime}`, 'it is for sandboxes of --runtime daytona')
}

/** What is known before anything is loaded or asked. */
export interface DaytonaPlan {
  readonly snapshot: string
  readonly options: DaytonaRuntimeOptions
  /** What was chosen without having been said. */
  readonly told: string
}

export interface DaytonaPlace {
  /** The working directory: the default image is built from it, and paths in that image are relative to it. */
  readonly directory: string
  readonly exists: (path: string) => boolean
}

export const IMAGE_FILE = 'Dockerfile.hud'
export const IMAGE_DIRECTORY = '/app'
export const PORT = 8_765

/**
 * Pure. `environment` is the source beside the tasks; `env` is what the user named instead, as a path in the image. Throws `no-snapshot`,
 * `conflicting-options` and `outside-of-image`.
 */
export function planDaytona(
  { env, ...options }: DaytonaArguments & { readonly env?: string },
  environment: string | undefined,
  { directory, exists }: DaytonaPlace,
): DaytonaPlan {
  if (env !== undefined && options.serveCommand !== undefined)
    throw conflictingOptions('--env', '--serve-command', 'the command names what it serves')
  const own = join(directory, IMAGE_FILE)
  if (options.image === undefined && options.snapshot === undefined && !exists(own)) throw noSnapshot(IMAGE_FILE)
  const image = options.image ?? (options.snapshot === undefined ? IMAGE_FILE : undefined)
  // What lies where in an image is known of this directory's own; another serves what its own command says.
  const isForeign = image !== undefined && resolve(directory, image) !== own
  const snapshot = options.snapshot ?? toSnapshotName(env ?? environment ?? directory)
  const file = env ?? (isForeign ? undefined : environment)
  const command =
    options.serveCommand ?? (file === undefined ? undefined : toCommand(file, env === undefined, directory))
  if (command === undefined && image === undefined)
    throw missingOption(
      '--serve-command',
      `nothing says what serves in the snapshot ${snapshot}; --env FILE will do, too`,
    )
  return {
    snapshot,
    options: {
      ...(image === undefined ? {} : { image: resolve(directory, image) }),
      ...(options.region === undefined ? {} : { region: options.region }),
      ...(options.transport === undefined ? {} : { transport: options.transport }),
      ...(options.autoStop === undefined ? {} : { autoStopMinutes: options.autoStop }),
      ...(command === undefined ? {} : { command }),
    },
    told: [
      `daytona: snapshot ${snapshot}${image === undefined ? '' : `, built from ${image} if it is not there yet`}`,
      `served by ${command ?? "the image's own command"}`,
    ].join('; '),
  }
}

/** Nothing is asked of the provider yet. */
export async function makeDaytonaRuntime(
  options: DaytonaArguments & { readonly env?: string },
  environment: string | undefined,
  console: Pick<Console, 'talk'>,
): Promise<Runtime> {
  const plan = planDaytona(options, environment, { directory: process.cwd(), exists: existsSync })
  const { DaytonaRuntime } = await import('../runtimes/daytona/daytona-runtime.ts')
  const runtime = new DaytonaRuntime(plan.snapshot, { ...plan.options, onBuildLog: line => console.talk(line) })
  console.talk(plan.told)
  return runtime
}

/** `environments/calc/env.ts` and `environments/calc` are both called calc, `chess.ts` is called chess. */
function toSnapshotName(path: string): string {
  const file = basename(path, extname(path))
  const name = extname(path) !== '' && file === 'env' ? basename(dirname(resolve(path))) : file
  return `troupe-${name.toLowerCase().replaceAll(/[^a-z0-9._-]+/g, '-')}`
}

function toCommand(file: string, isHere: boolean, directory: string): string {
  const path = toImagePath(file, isHere, directory)
  // Without a token of its own: the provider's gateway asks for one, and nothing else leads to the port.
  return `cd ${IMAGE_DIRECTORY} && exec troupe serve ${path} --host 0.0.0.0 --port ${PORT} --insecure`
}

/**
 * A path on this machine that lies in the directory is the same in the image; any other must be the image's own. As a shell reads it. Throws
 * `outside-of-image`.
 */
export function toImagePath(file: string, isHere: boolean, directory: string): string {
  const inside = relative(directory, resolve(directory, file))
  if (isHere && isOutside(inside)) throw outsideOfImage(file, directory)
  return quote(isOutside(inside) ? file : inside.split(sep).join('/'))
}

const isOutside = (path: string) => path === '' || path.startsWith('..') || isAbsolute(path)
const quote = (path: string) => (/^[\w./@+-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`)
