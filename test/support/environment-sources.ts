import { fileURLToPath } from 'node:url'
import { loadModule } from '../../src/modules/load-module.ts'

/**
 * A source under `environments`, loaded as a user's would be. The compiled one would import the package by its name, which means
 * `dist` whatever directory the tests were built to.
 */
export async function loadSource<Exports>(path: string): Promise<Exports> {
  const file = fileURLToPath(new URL(`../../../environments/${path}`, import.meta.url))
  return (await loadModule(file)) as Exports
}
