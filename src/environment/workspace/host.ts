import type { Duplex } from 'node:stream'
import { type Clock, systemClock } from '../../clock.ts'
import type { ErrorData } from '../../errors.ts'
import { type IdSource, randomIds } from '../../ids.ts'
import type { Binding } from '../../wire/binding.ts'
import type { SessionTracer } from '../session-tracer.ts'
import { warn } from '../warn.ts'
import type { IsolationOptions, OpenWorkspace, WorkspaceHost } from '../workspace.ts'
import { type BaseDirectory, makeBaseDirectory } from './base-directory.ts'
import { makeCommandGate } from './command-gate.ts'
import { unknownCapability, workspaceClosed, workspaceInUse } from './errors.ts'
import { serveExec } from './exec-server.ts'
import type { LaunchSettings } from './launch.ts'
import { DEFAULT_LIMITS, DEFAULT_MAX_COMMANDS } from './limits.ts'
import { makeOwners } from './owners.ts'
import { probe, weaknessOf } from './preflight.ts'
import { openSession, type WorkspaceSession } from './session.ts'
import { makeSshServer, SSH_USER, type WorkspaceSshServer } from './ssh-server.ts'
import { makeStreamPair } from './stream-pair.ts'
import { readSystemView } from './system-view.ts'
import { makeTokenTable } from './tokens.ts'
import { makeWarmPrograms, type WarmPrograms } from './warm-programs.ts'

export interface WorkspaceHostOptions extends Partial<IsolationOptions> {
  /** Where the host makes its own directory; the system's temporary directory when absent. */
  readonly baseDirectory?: string
  /** Told when this machine holds commands back less than others do. Default: a process warning. */
  readonly onWeakened?: (error: ErrorData) => void
  /** Draws commands that come by `exec/1`, where the client says what they are part of. */
  readonly tracer?: SessionTracer
  readonly clock?: Clock
  readonly ids?: IdSource
}

/** The host of this machine, whose workspaces also start commands that go on running. */
export interface LocalWorkspaceHost extends WorkspaceHost {
  open(sessionId: string): Promise<OpenWorkspace & { readonly workspace: WorkspaceSession }>
}

const MAX_WAITING_COMMANDS = 8_192

interface Ready {
  readonly base: BaseDirectory
  readonly settings: LaunchSettings
  readonly ssh: WorkspaceSshServer
  readonly warmPrograms: WarmPrograms
}

/**
 * Makes workspaces, isolated with bubblewrap and without a network unless the options say otherwise. Nothing is created
 * before `preflight` or the first `open`; `close` removes everything again.
 */
export function makeWorkspaceHost(options: WorkspaceHostOptions = {}): LocalWorkspaceHost {
  const { isolation = 'bwrap', network = false, limits = DEFAULT_LIMITS, maxCommands = DEFAULT_MAX_COMMANDS } = options
  const { clock = systemClock, ids = randomIds, onWeakened = warn } = options
  const gate = makeCommandGate({ maxRunning: maxCommands, maxWaiting: MAX_WAITING_COMMANDS })
  const owners = makeOwners()
  const tokens = makeTokenTable<WorkspaceSession>(ids)
  const opening = new Map<string, Promise<unknown>>()
  const sessions = new Map<string, WorkspaceSession>()
  const streams = new Set<Duplex>()
  let count = 0
  let preparing: Promise<Ready> | undefined
  let closing: Promise<void> | undefined

  async function prepare(): Promise<Ready> {
    const base = await makeBaseDirectory(options.baseDirectory)
    const owner = owners.claim()
    try {
      const view = isolation === 'none' ? undefined : await readSystemView(base.etc)
      const settings = await probe({ view, network, limits }, await base.make('probe', owner), owner, clock)
      const weakness = weaknessOf(settings)
      if (weakness !== undefined) onWeakened(weakness)
      const warmPrograms = makeWarmPrograms({ settings, base, owners, clock, track: started => started })
      return { base, settings, ssh: makeSshServer(clock), warmPrograms }
    } catch (error) {
      await base.remove()
      throw error
    } finally {
      owners.release(owner)
    }
  }

  /** A failure is not kept: the next call looks again, once the user has installed what was missing. */
  function ready(): Promise<Ready> {
    if (closing !== undefined) return Promise.reject(workspaceClosed('host'))
    preparing ??= prepare().catch(error => {
      preparing = undefined
      throw error
    })
    return preparing
  }

  async function closeAll(): Promise<void> {
    const prepared = await preparing?.catch(() => undefined) // what failed cleaned up after itself
    for (const stream of streams) stream.destroy()
    await Promise.allSettled(opening.values())
    const results = await Promise.allSettled([...sessions.values()].map(session => session.close()))
    sessions.clear()
    await prepared?.warmPrograms.close()
    const failed = results.find(result => result.status === 'rejected')
    if (failed !== undefined) throw failed.reason
    await prepared?.base.remove()
  }

  async function openWorkspace(id: string): Promise<OpenWorkspace & { readonly workspace: WorkspaceSession }> {
    const { base, settings, ssh, warmPrograms } = await ready()
    count += 1
    const session = await openSession(id, count, { settings, base, owners, gate, warmPrograms, clock })
    if (closing !== undefined) {
      await session.close()
      throw workspaceClosed(id)
    }
    sessions.set(id, session)
    const token = tokens.issue(session)
    return {
      workspace: session,
      bindings: bindingsOf(session, token, ssh),
      async close() {
        tokens.revoke(token)
        await session.close()
        sessions.delete(id)
      },
    }
  }

  function bindingsOf(session: WorkspaceSession, token: string, ssh: WorkspaceSshServer): readonly Binding[] {
    const shared = { user: SSH_USER, shell: 'bash', cwd: session.root, isolation }
    const { privateKey } = ssh.issueKey(session)
    return [
      { name: 'exec', protocol: 'exec/1', url: 'exec://127.0.0.1', params: { token, cwd: session.root, isolation } },
      {
        name: 'shell',
        protocol: 'ssh/2',
        // Nothing listens there: peers put their tunnel's end in its place.
        url: `ssh://${SSH_USER}@127.0.0.1:22`,
        params: { ...shared, host_pubkey: ssh.hostKey, client_key: privateKey },
      },
    ]
  }

  return {
    preflight: async () => void (await ready()),
    async open(id) {
      if (sessions.has(id) || opening.has(id)) throw workspaceInUse(id)
      const opened = openWorkspace(id)
      opening.set(id, opened)
      try {
        return await opened
      } finally {
        opening.delete(id)
      }
    },
    async connect(capability) {
      if (capability !== 'exec' && capability !== 'shell') throw unknownCapability(capability)
      const { ssh } = await ready()
      const [client, server] = makeStreamPair()
      for (const stream of [client, server]) {
        streams.add(stream)
        stream.once('close', () => streams.delete(stream))
      }
      if (capability === 'shell') ssh.serve(server)
      else serveExec(server, token => tokens.find(token), { clock, tracer: options.tracer })
      return client
    },
    close: () => (closing ??= closeAll()),
  }
}
