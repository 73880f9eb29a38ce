import type { Clock } from '../../clock.ts'
import { readBounded } from '../../wire/exec-output.ts'
import { bwrapUnusable } from './errors.ts'
import { type LaunchSettings, toLaunch } from './launch.ts'
import type { Owner } from './owners.ts'
import { startProcess } from './process.ts'

const PROBE_MS = 10_000

/**
 * Runs `true` in a sandbox, exactly as commands will run. Returns settings that work: bwrap before 0.8, and kernels that
 * forbid the sysctl it writes, cannot disable nested user namespaces, so that is given up first. Throws `bwrap-unusable`.
 */
export async function probe(
  settings: LaunchSettings,
  directory: string,
  owner: Owner | undefined,
  clock: Clock,
): Promise<LaunchSettings> {
  if (settings.view === undefined) return settings
  const plain = { ...settings, view: { ...settings.view, disableUserns: false } }
  const problem = await tryOnce(settings, directory, owner, clock)
  if (problem === undefined) return settings
  if ((await tryOnce(plain, directory, owner, clock)) === undefined) return plain
  throw bwrapUnusable(problem, fixFor(problem))
}

async function tryOnce(
  settings: LaunchSettings,
  directory: string,
  owner: Owner | undefined,
  clock: Clock,
): Promise<string | undefined> {
  const started = startProcess(toLaunch(settings, { argv: ['/usr/bin/true'], directory, owner, env: {} }), clock)
  const cancel = clock.after(PROBE_MS, started.kill)
  started.stdin.end()
  started.stdout.resume()
  const [stderr, end] = await Promise.all([readBounded(started.stderr, 4_096), started.ended])
  cancel()
  return end.exitCode === 0 ? undefined : stderr.trim() || `exit status ${end.exitCode}`
}

function fixFor(problem: string): string {
  if (/Can't (find|mkdir|chdir)|Permission denied/i.test(problem) && /source|chdir/i.test(problem))
    return 'choose a base directory that every user may pass through ("chmod o+x" on its parents)'
  if (/uid map|namespace|Operation not permitted|loopback/i.test(problem))
    return (
      'allow user namespaces with "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0 user.max_user_namespaces=65536", ' +
      'or in Docker with "docker run --security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined"'
    )
  if (/prlimit/.test(problem)) return 'install util-linux with "apt-get install -y util-linux"'
  return 'bring bubblewrap up to date with "apt-get install -y bubblewrap"'
}
