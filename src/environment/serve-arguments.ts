import { parseArgs } from 'node:util'
import { badServeOption } from './errors.ts'
import { DEFAULT_PORT, type IsolationSettings, type ServeSettings } from './serve.ts'

export interface ServeArguments {
  readonly settings: ServeSettings
  readonly exitWithParent: boolean
  /** Where the token is to be read from, other than the variable. */
  readonly tokenFile?: string
  /** Made for this host alone: the last thing it does is to remove it. */
  readonly ownDirectory?: string
}

/** What an environment host is told on its command line. Throws `bad-serve-option`. */
export function parseServeArguments(argv: readonly string[]): ServeArguments {
  const { values, positionals } = parse(argv)
  const [path] = positionals
  if (path === undefined || positionals.length > 1) throw badServeOption('name one file that exports an Environment')
  const { env, socket, host = '127.0.0.1', insecure, 'token-file': tokenFile } = values
  const { 'base-directory': baseDirectory, 'own-directory': ownDirectory, traces } = values
  const port = wholeNumber('port', values.port) ?? DEFAULT_PORT
  if (port > 65_535) throw badServeOption(`--port ${port}: ports end at 65535`)
  return {
    settings: {
      path,
      listen: socket === undefined ? { kind: 'tcp', host, port } : { kind: 'unix', path: socket },
      isolation: toIsolation(values),
      ...(insecure === true ? { insecure } : {}),
      ...(env === undefined ? {} : { env }),
      ...(baseDirectory === undefined ? {} : { baseDirectory }),
      ...(traces === undefined ? {} : { traces }),
    },
    exitWithParent: values['exit-with-parent'] === true,
    ...(tokenFile === undefined ? {} : { tokenFile }),
    ...(ownDirectory === undefined ? {} : { ownDirectory }),
  }
}

type Values = ReturnType<typeof parse>['values']

function parse(argv: readonly string[]) {
  const text = { type: 'string' } as const
  const flag = { type: 'boolean' } as const
  const options = {
    env: text,
    host: text,
    port: text,
    socket: text,
    'token-file': text,
    insecure: flag,
    isolation: text,
    network: flag,
    'cpu-seconds': text,
    'memory-bytes': text,
    processes: text,
    'file-bytes': text,
    'disk-bytes': text,
    'max-commands': text,
    'base-directory': text,
    'own-directory': text,
    traces: text,
    'exit-with-parent': flag,
  }
  try {
    return parseArgs({ args: [...argv], allowPositionals: true, options })
  } catch (error) {
    throw badServeOption(error instanceof Error ? error.message : String(error))
  }
}

function toIsolation(values: Values): IsolationSettings {
  const { isolation, network } = values
  if (isolation !== undefined && isolation !== 'bwrap' && isolation !== 'none')
    throw badServeOption(`--isolation ${isolation}: it is "bwrap" or "none"`)
  const cpuSeconds = wholeNumber('cpu-seconds', values['cpu-seconds'])
  const memoryBytes = wholeNumber('memory-bytes', values['memory-bytes'])
  const processes = wholeNumber('processes', values.processes)
  const fileBytes = wholeNumber('file-bytes', values['file-bytes'])
  const diskBytes = wholeNumber('disk-bytes', values['disk-bytes'])
  const maxCommands = wholeNumber('max-commands', values['max-commands'])
  return {
    ...(isolation === undefined ? {} : { isolation }),
    ...(network === true ? { network } : {}),
    limits: {
      ...(cpuSeconds === undefined ? {} : { cpuSeconds }),
      ...(memoryBytes === undefined ? {} : { memoryBytes }),
      ...(processes === undefined ? {} : { processes }),
      ...(fileBytes === undefined ? {} : { fileBytes }),
      ...(diskBytes === undefined ? {} : { diskBytes }),
    },
    ...(maxCommands === undefined ? {} : { maxCommands }),
  }
}

function wholeNumber(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (!/^\d{1,15}$/.test(text)) throw badServeOption(`--${name} ${text}: it is a whole number`)
  return Number(text)
}
