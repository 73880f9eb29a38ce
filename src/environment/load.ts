import { loadModule, toPath } from '../modules/load-module.ts'
import { type Environment, isEnvironment } from './environment.ts'
import { environmentNameTaken, environmentNotExported, noEnvironment, severalEnvironments } from './errors.ts'

/**
 * The environments that a JavaScript or TypeScript file exports, each once. Throws `no-environment`, `duplicate-environment`
 * and what `loadModule` throws.
 */
export async function loadEnvironments(path: string): Promise<readonly Environment[]> {
  const exported = await loadModule(path)
  const environments = [...new Set(Object.values(exported).filter(isEnvironment))]
  if (environments.length === 0) throw noEnvironment(toPath(path))
  for (const [place, { name }] of environments.entries())
    if (environments.findIndex(other => other.name === name) !== place) throw environmentNameTaken(toPath(path), name)
  return environments
}

/** The one environment of a file, or the one named. Throws `several-environments` and `unknown-environment` besides. */
export async function loadEnvironment(path: string, name?: string): Promise<Environment> {
  const environments = await loadEnvironments(path)
  const names = environments.map(environment => environment.name)
  const chosen = name === undefined ? environments : environments.filter(environment => environment.name === name)
  const [only] = chosen
  if (only === undefined) throw environmentNotExported(toPath(path), name ?? '', names)
  if (chosen.length > 1) throw severalEnvironments(toPath(path), names)
  return only
}
