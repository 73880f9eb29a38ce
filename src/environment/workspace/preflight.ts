import type { Clock } from '../../clock.ts'
import type { ErrorData } from '../../errors.ts'
import { readBounded } from '../../wire/exec-output.ts'
import { bwrapUnusable, filterMissing } from './errors.ts'
import { type LaunchSettings, toLaunch } from './launch.ts'
import type { Owner } from './owners.ts'
import { startProcess } from './process.ts'

const PROBE_MS = 10_000

/**
 * Runs `true` in a sandbox, exactly as commands will run. Returns settings that work: bwrap before 0.8, and kernels that
 * forbid the sysctl it writes, cannot disable nested user namespaces, so that is given up first; a kernel without seccomp takes no
 * filter of system calls. Throws `bwrap-unusable`.
 */
export async function probe(
  settings: LaunchSettings,
  directory: string,
  owner: Owner | undefined,
  clock: Clock,
): Promise<LaunchSettings> {
  const { view } = settings
  if (view === undefined) return settings
  const views = [
    view,
    { ...view, disableUserns: false },
    { ...view, filter: undefined },
    { ...view, disableUserns: false, filter: undefined },
  ]
  const problems: string[] = []
  for (const each of views) {
    const problem = await tryOnce({ ...settings, view: each }, directory, owner, clock)
    if (problem === undefined) return { ...settings, view: each }
    problems.push(problem)
  }
  const [first = ''] = problems
  throw bwrapUnusable(first, fixFor(first))
}

/** What commands are not held back from here although they are elsewhere; undefined where nothing is missing, or nothing isolates. */
export function weaknessOf({ view }: LaunchSettings): ErrorData | undefined {
  return view === undefined || view.filter !== undefined ? undefined : filterMissing().data
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
