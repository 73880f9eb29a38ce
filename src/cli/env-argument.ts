import { InvalidArgumentError } from 'commander'
import { conflictingOptions } from './errors.ts'

/** Environments by name, each with its source: a file, or `tcp://host:port` of one that is served already. */
export type EnvironmentSources = Readonly<Record<string, string>>
export type EnvArgument = string | EnvironmentSources

/** `env.ts`, or `calc=environments/calc/env.ts` once for each environment. Throws commander's own error for a mixture. */
export function toEnvArgument(text: string, earlier?: EnvArgument): EnvArgument {
  const [, name, source] = /^([\w.-]+)=(.+)$/.exec(text) ?? []
  if (name === undefined || source === undefined) {
    if (earlier !== undefined) throw new InvalidArgumentError('Name it once, or NAME=FILE for each environment.')
    return text
  }
  if (typeof earlier === 'string') throw new InvalidArgumentError('Name one file, or NAME=FILE for each environment.')
  if (earlier !== undefined && name in earlier) throw new InvalidArgumentError(`"${name}" is named twice.`)
  return { ...earlier, [name]: source }
}

/** The one environment of what serves no others. Throws `conflicting-options` where there are several. */
export function toOneSource(env: EnvArgument | undefined, beside: string): string | undefined {
  if (env === undefined || typeof env === 'string') return env
  throw conflictingOptions(
    '--env NAME=FILE',
    beside,
    'each of its sandboxes serves one environment; leave the name out',
  )
}
