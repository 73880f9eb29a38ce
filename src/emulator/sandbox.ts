import type { Served, ServeRequest } from './servers.ts'
import type { Space } from './space.ts'

export type SandboxState =
  | 'creating'
  | 'starting'
  | 'started'
  | 'stopping'
  | 'stopped'
  | 'destroying'
  | 'destroyed'
  | 'error'

/** vCPUs, and GiB of memory and disk. */
export interface Resources {
  readonly cpu: number
  readonly memory: number
  readonly disk: number
}

export const DEFAULT_RESOURCES: Resources = { cpu: 1, memory: 1, disk: 3 }

/** A port that something serves, or is about to. */
export interface SandboxPort {
  readonly request: ServeRequest
  readonly opened: Promise<Served>
  /** Once it answers. */
  served: Served | undefined
  /** Of the control sessions that were opened through it. */
  readonly sessionIds: Set<string>
}

export interface SandboxRecord {
  readonly id: string
  name: string
  readonly snapshot: string
  readonly target: string
  readonly resources: Resources
  labels: Readonly<Record<string, string>>
  env: Readonly<Record<string, string>>
  state: SandboxState
  errorReason: string | undefined
  /** Of the pool whose unclaimed member it is. */
  warmPoolId: string | undefined
  readonly parentId: string | undefined
  forking: boolean
  /** Minutes; 0 is never. */
  autoStopInterval: number
  /** Minutes after a stop; 0 is at once, below 0 never. */
  autoDeleteInterval: number
  destroyAt: number | undefined
  readonly createdAt: number
  updatedAt: number
  lastActivityAt: number
  readonly previewToken: string
  readonly space: Space
  readonly ports: Map<number, SandboxPort>
  /** Connections through the gateway and the proxy, cut when it stops. */
  readonly connections: Set<{ destroy(): unknown }>
}

/** The provider's representation. */
export function toDto(record: SandboxRecord, organizationId: string, toolboxProxyUrl: string) {
  return {
    id: record.id,
    organizationId,
    name: record.name,
    snapshot: record.snapshot,
    user: 'agent',
    env: record.env,
    labels: record.labels,
    public: false,
    networkBlockAll: false,
    target: record.target,
    cpu: record.resources.cpu,
    gpu: 0,
    memory: record.resources.memory,
    disk: record.resources.disk,
    state: record.state,
    desiredState: toDesired(record.state),
    ...(record.errorReason === undefined ? {} : { errorReason: record.errorReason }),
    ...(record.warmPoolId === undefined ? {} : { warmPoolId: record.warmPoolId }),
    backupState: 'None',
    autoStopInterval: record.autoStopInterval,
    autoArchiveInterval: 0,
    autoDeleteInterval: record.autoDeleteInterval,
    ...(record.destroyAt === undefined ? {} : { autoDestroyAt: new Date(record.destroyAt).toISOString() }),
    createdAt: new Date(record.createdAt).toISOString(),
    updatedAt: new Date(record.updatedAt).toISOString(),
    lastActivityAt: new Date(record.lastActivityAt).toISOString(),
    sandboxClass: 'container',
    toolboxProxyUrl,
  }
}

function toDesired(state: SandboxState): string {
  if (state === 'stopping' || state === 'stopped') return 'stopped'
  return state === 'destroying' || state === 'destroyed' ? 'destroyed' : 'started'
}
