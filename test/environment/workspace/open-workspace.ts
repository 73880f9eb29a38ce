import { systemClock } from '../../../src/clock.ts'
import { makeWorkspaceHost, type WorkspaceHostOptions } from '../../../src/environment/workspace/index.ts'
import type { OpenWorkspace, WorkspaceHost } from '../../../src/environment/workspace.ts'
import type { Binding } from '../../../src/wire/binding.ts'
import { openExecShell } from '../../../src/wire/exec-shell.ts'
import type { Shell } from '../../../src/wire/shell.ts'
import { openSshShell } from '../../../src/wire/ssh-shell.ts'

/** A host with one open session, closed together. */
export interface OpenedHost extends OpenWorkspace {
  readonly host: WorkspaceHost
  shell(protocol: Shell['protocol']): Promise<Shell>
  closeHost(): Promise<void>
}

export async function openWorkspace(options: WorkspaceHostOptions = {}): Promise<OpenedHost> {
  const host = makeWorkspaceHost(options)
  const opened = await host.open('sess-00000001')
  return { ...opened, host, shell: protocol => shellOn(host, opened, protocol), closeHost: () => host.close() }
}

export async function shellOn(host: WorkspaceHost, opened: OpenWorkspace, protocol: Shell['protocol']): Promise<Shell> {
  const binding = bindingOf(opened, protocol)
  const stream = await host.connect(binding.name)
  return protocol === 'exec/1'
    ? openExecShell(stream, binding, systemClock)
    : openSshShell(stream, binding, systemClock)
}

export function bindingOf(opened: OpenWorkspace, protocol: string): Binding {
  const binding = opened.bindings.find(candidate => candidate.protocol === protocol)
  if (binding === undefined) throw new Error(`no ${protocol} binding`)
  return binding
}
