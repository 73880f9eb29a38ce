import type { Clock } from '../clock.ts'
import { noShell } from './exec-errors.ts'
import { openExecShell } from './exec-shell.ts'
import type { ControlSession } from './session.ts'
import type { Shell } from './shell.ts'

/**
 * The session's shell, over the lightest capability that its environment offers. Its commands are part of `traceparent`, where it is one of ours. Rejects with `no-shell` when it offers
 * none, with what `openTunnel` rejects with, or as `openExecShell` and `openSshShell` do.
 */
export async function openShell(
  session: Pick<ControlSession, 'env' | 'bindings' | 'openTunnel'>,
  clock: Clock,
  signal?: AbortSignal,
  traceparent?: string,
): Promise<Shell> {
  const offered = (protocol: string) => session.bindings.find(binding => binding.protocol === protocol)
  const exec = offered('exec/1')
  if (exec !== undefined) return openExecShell(await session.openTunnel(exec.name, signal), exec, clock, traceparent)
  const ssh = offered('ssh/2')
  if (ssh !== undefined) {
    // Heavy, and of no use to threads whose environments are ours.
    const { openSshShell } = await import('./ssh-shell.ts')
    return openSshShell(await session.openTunnel(ssh.name, signal), ssh, clock)
  }
  throw noShell(
    session.env.name,
    session.bindings.map(({ protocol }) => protocol),
  )
}
