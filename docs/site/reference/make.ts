/** Both reference pages, by their paths. */

import type { Cli } from '../../../src/cli/cli.ts'
import { makeConsole } from '../../../src/cli/console.ts'
import { makeProgram } from '../../../src/cli/program.ts'
import { systemClock } from '../../../src/clock.ts'
import { makeCliReference } from './cli.ts'
import { makeConfigurationReference } from './configuration.ts'

/** All commands, loaded; none is to be run with it. */
export function loadProgram() {
  const cli: Cli = {
    console: makeConsole(process.stdout, process.stderr, process.env),
    clock: systemClock,
    tell: () => 1,
    exitWith: () => {},
  }
  return makeProgram('all', cli)
}

export async function makeReference(repository: string): Promise<Readonly<Record<string, string>>> {
  return {
    'docs/reference/cli.md': makeCliReference(await loadProgram()),
    'docs/reference/configuration.md': makeConfigurationReference(repository),
  }
}
