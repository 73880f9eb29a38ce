import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { systemClock } from '../../../src/clock.ts'
import { minimalVariables } from '../../../src/runtimes/minimal-variables.ts'
import { type ServeProcess, startServing } from '../../../src/runtimes/serve-process.ts'
import { repository } from '../../support/source-imports.ts'

const program = fileURLToPath(new URL('../../../src/cli/main.js', import.meta.url))

/** A file of this folder's sources. */
export function sourceOf(path: string): string {
  return join(repository, 'test/interop', path)
}

/** `troupe serve`, as its users call it. */
export function serveOursArgv(path: string): readonly [string, ...string[]] {
  return [process.execPath, program, 'serve', path, '--port', '0']
}

/** The entry point that HUD's own runtimes start in a process, or a container, for each sandbox. */
export function serveTheirsArgv(python: string, path: string): readonly [string, ...string[]] {
  return [python, '-m', 'hud.environment.server', path]
}

/** HUD's CLI. */
export function hudArgv(python: string, ...given: readonly string[]): readonly [string, ...string[]] {
  return [python, '-m', 'hud.cli', ...given]
}

/** What keeps HUD's programs from asking who is there and telling of it. */
export const HUD_SETTINGS: Readonly<Record<string, string>> = {
  HUD_SKIP_VERSION_CHECK: '1',
  HUD_CLI_ANALYTICS_ENABLED: '0',
  HUD_TELEMETRY_ENABLED: '0',
  PYTHONDONTWRITEBYTECODE: '1',
}

/** The same, at home in a directory that somebody removes. */
export function hudVariables(home: string): Readonly<Record<string, string>> {
  return { ...HUD_SETTINGS, HOME: home, TMPDIR: home }
}

export interface Served {
  /** `tcp://127.0.0.1:port`. */
  readonly url: string
  readonly process: ServeProcess
}

/** Starts what serves and says on which port; whoever starts it stops it. */
export async function startServed(
  argv: readonly [string, ...string[]],
  variables: Readonly<Record<string, string>> = {},
): Promise<Served> {
  const process = await startServing({
    argv,
    env: { ...minimalVariables(), ...variables },
    clock: systemClock,
    startDeadlineMs: 60_000,
    stopGraceMs: 10_000,
  })
  if (process.address.kind !== 'tcp') throw new Error('it serves on no port')
  return { url: `tcp://127.0.0.1:${process.address.port}`, process }
}
