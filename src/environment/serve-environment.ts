import type { Duplex } from 'node:stream'
import { type Clock, systemClock } from '../clock.ts'
import { type ErrorData, TroupeError } from '../errors.ts'
import type { TaskManifest } from '../wire/session.ts'
import { toArgumentsSchema, toReturnsSchema } from './arguments.ts'
import { checkTask } from './check-task.ts'
import type { Environment } from './environment.ts'
import { noWorkspaceHost } from './errors.ts'
import type { ServedEnvironment, ServedSession } from './served.ts'
import type { Template } from './template.ts'
import { openTemplateSession } from './template-session.ts'
import { warn } from './warn.ts'
import type { WorkspaceHost } from './workspace.ts'

/** What `serveEnvironment` goes by. */
export interface ServeEnvironmentOptions {
  readonly clock?: Clock
  /** How long the `finally` blocks of a template, and each teardown hook, may take. Default 5,000. */
  readonly teardownMs?: number
  /** Told of what no caller can be told: a teardown that failed. Default: a process warning. */
  readonly onError?: (error: ErrorData) => void
}

/**
 * An environment as a control-channel server wants it. The host makes its workspaces, and is closed with it; throws
 * `no-workspace-host` when one is wanted and none given.
 */
export function serveEnvironment(
  environment: Environment,
  host?: WorkspaceHost,
  options: ServeEnvironmentOptions = {},
): ServedEnvironment {
  const { name, version, templates } = environment
  if (environment.workspace !== false && host === undefined) throw noWorkspaceHost(name)
  const ports = {
    environment,
    host: environment.workspace === false ? undefined : host,
    clock: options.clock ?? systemClock,
    teardownMs: options.teardownMs ?? 5_000,
    onError: options.onError ?? warn,
  }
  const manifests = [...templates.values()].map(toManifest)
  return {
    name,
    version,
    tasks: () => manifests,
    checkTask: (id, args) => checkTask(environment, id, args),
    openSession: (sessionId): Promise<ServedSession> => openTemplateSession(sessionId, ports),
    connectCapability: (capability): Promise<Duplex> =>
      ports.host === undefined ? Promise.reject(unknownCapability(name, capability)) : ports.host.connect(capability),
    close: async () => host?.close(),
  }
}

function toManifest(template: Template): TaskManifest {
  return {
    id: template.id,
    description: template.description,
    args: toArgumentsSchema(template),
    ...(template.returns === undefined ? {} : { returns: toReturnsSchema(template.returns) }),
  }
}

function unknownCapability(name: string, capability: string): TroupeError {
  return new TroupeError({
    tag: 'unknown-capability',
    address: capability,
    message: `the environment "${name}" offers no capability "${capability}": it has none.`,
  })
}
