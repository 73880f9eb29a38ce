import type { CreateSandbox, GpuType } from '@daytona/api-client'
import type { ProvisionRequest } from '../../runtime.ts'
import { toProviderLabels, toSandboxName } from '../labels.ts'

/** vCPUs, GiB of memory and disk, and GPUs of one of these types. */
export interface Resources {
  readonly cpu?: number
  readonly memory?: number
  readonly disk?: number
  readonly gpu?: number
  readonly gpuType?: readonly GpuType[]
}

/** What a sandbox is to be, however it comes to be. */
export interface NewSandbox {
  readonly name: string
  readonly snapshot: string
  readonly region: string | undefined
  /** As they are called at the provider. */
  readonly labels: Record<string, string>
  readonly autoStopMinutes: number
  /** From its create on, whatever happens to it. */
  readonly ttlMinutes: number
  /** Undefined: the snapshot's own. */
  readonly resources: Resources | undefined
}

/** How a sandbox is given to its provider. */
export interface SandboxKind {
  readonly snapshot: string
  readonly region: string | undefined
  readonly autoStopMinutes: number
  readonly resources: Resources | undefined
}

const MINUTE_MS = 60_000
const LONGEST_TTL_MINUTES = 24 * 60

/** `expiry` among the labels bounds its life at the provider, too; a day where there is none that can be read. */
export function toNewSandbox(
  { id, labels }: Pick<ProvisionRequest, 'id' | 'labels'>,
  kind: SandboxKind,
  wallTime: number,
): NewSandbox {
  const left = Math.ceil((Date.parse(labels.expiry ?? '') - wallTime) / MINUTE_MS)
  return {
    ...kind,
    name: toSandboxName(id),
    labels: toProviderLabels({ ...labels, sandbox: id }),
    ttlMinutes: left >= 1 ? left : LONGEST_TTL_MINUTES,
  }
}

/** No variables, volumes or secrets, any of which would rule out the provider's own pools. It is deleted as soon as it stops. */
export function toCreateBody(wanted: NewSandbox): CreateSandbox {
  const { name, snapshot, region, labels, autoStopMinutes, ttlMinutes, resources } = wanted
  const { gpuType, ...counts } = resources ?? {}
  return {
    name,
    snapshot,
    labels,
    ...(region === undefined ? {} : { target: region }),
    autoStopInterval: autoStopMinutes,
    autoDeleteInterval: 0,
    ttlMinutes,
    ...counts,
    ...(gpuType === undefined ? {} : { gpuType: [...gpuType] }),
  }
}
