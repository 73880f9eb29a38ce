import { type Clock, systemClock } from '../clock.ts'
import type { ErrorData } from '../errors.ts'
import { tracesNotSent } from '../telemetry/errors.ts'
import type { ListenAddress } from '../wire/address.ts'
import type { Environment } from './environment.ts'
import { loadEnvironment } from './load.ts'
import { serveEnvironment } from './serve-environment.ts'
import { type ControlServer, serveControl } from './server.ts'
import type { SessionTracer } from './session-tracer.ts'
import { warn } from './warn.ts'
import { makeWorkspaceHost } from './workspace/index.ts'
import { DEFAULT_LIMITS } from './workspace/limits.ts'
import type { IsolationOptions, WorkspaceHost } from './workspace.ts'

/** What whoever serves an environment says about its isolation; limits may be named one by one. */
export type IsolationSettings = Partial<Omit<IsolationOptions, 'limits'>> & {
  readonly limits?: Partial<IsolationOptions['limits']>
}

export interface ServeSettings {
  /** The environment's source. */
  readonly path: string
  /** Which of several environments in the file. */
  readonly env?: string
  /** Default: port 8765 on 127.0.0.1. */
  readonly listen?: ListenAddress
  /** What clients must show; wanted beyond loopback. */
  readonly token?: string
  /** Listen beyond loopback without one. */
  readonly insecure?: boolean
  /** Laid over what the environment itself declares. */
  readonly isolation?: IsolationSettings
  /** Where session directories are made. Default: a fresh one in the system's temporary directory. */
  readonly baseDirectory?: string
  /** Where spans of what is asked for are sent: OTLP over HTTP. Absent: none are drawn. */
  readonly traces?: string
  /** Told of what no peer can be told. Default: a process warning. */
  readonly onError?: (error: ErrorData) => void
  readonly clock?: Clock
}

export interface RunningServer {
  readonly address: ListenAddress
  readonly environment: { readonly name: string; readonly version: string }
  sessionCount(): number
  /** Ends sessions, their processes and directories, and the server. Bounded; twice is once. */
  close(): Promise<void>
}

export const DEFAULT_PORT = 8_765

/**
 * Loads an environment's source and serves it, once its own checks have passed. Rejects, with nothing left behind, on what
 * loading it and its checks throw, on `bwrap-missing` and `bwrap-unusable` where it has a workspace, on `token-wanted` and on `port-in-use`.
 */
export async function runServe(settings: ServeSettings): Promise<RunningServer> {
  const clock = settings.clock ?? systemClock
  const onError = settings.onError === undefined ? {} : { onError: settings.onError }
  const environment = await loadEnvironment(settings.path, settings.env)
  for (const check of environment.hooks.checks) await check()
  const tracer = await openTracer(environment, settings, clock)
  const workspaces = makeWorkspaces(environment, settings, clock, tracer)
  const served = serveEnvironment(environment, workspaces, { clock, ...onError })
  let server: ControlServer
  try {
    await workspaces?.preflight()
    const listen = settings.listen ?? { kind: 'tcp', host: '127.0.0.1', port: DEFAULT_PORT }
    const { token, insecure = false } = settings
    server = await serveControl(served, {
      listen,
      insecure,
      clock,
      ...onError,
      ...(token === undefined ? {} : { token }),
      ...(tracer === undefined ? {} : { tracer }),
    })
  } catch (error) {
    await served.close()
    await tracer?.close()
    throw error
  }
  let closing: Promise<void> | undefined
  return {
    address: server.address,
    environment: { name: environment.name, version: environment.version },
    sessionCount: () => server.sessionCount(),
    close() {
      closing ??= server
        .close()
        .finally(() => served.close())
        .finally(() => tracer?.close())
      return closing
    },
  }
}

async function openTracer(
  { name }: Environment,
  { traces, onError = warn }: ServeSettings,
  clock: Clock,
): Promise<SessionTracer | undefined> {
  if (traces === undefined) return undefined
  // Loaded only here: most environments are served without.
  const { openSessionTracer } = await import('../telemetry/traces/session-spans.ts')
  const onFailed = (error: unknown) => onError(tracesNotSent(traces, error).data)
  return openSessionTracer({ url: traces, environment: name, clock, onFailed })
}

function makeWorkspaces(
  { workspace }: Environment,
  settings: ServeSettings,
  clock: Clock,
  tracer: SessionTracer | undefined,
): WorkspaceHost | undefined {
  if (workspace === false) return undefined
  const { isolation = {}, baseDirectory } = settings
  return makeWorkspaceHost({
    ...workspace,
    ...isolation,
    limits: { ...DEFAULT_LIMITS, ...workspace.limits, ...isolation.limits },
    clock,
    ...(baseDirectory === undefined ? {} : { baseDirectory }),
    ...(settings.onError === undefined ? {} : { onWeakened: settings.onError }),
    ...(tracer === undefined ? {} : { tracer }),
  })
}
