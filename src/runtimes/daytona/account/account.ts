import type {
  OrganizationsApi,
  SandboxApi,
  Sandbox as SandboxDto,
  SnapshotsApi,
  WarmPoolsApi,
} from '@daytona/api-client'
import type { ProcessApi } from '@daytona/toolbox-api-client'
import type { Daytona } from '@daytonaio/sdk'
import type { Clock } from '../../../clock.ts'
import type { JointBucket } from '../../token-bucket.ts'
import type { SandboxEvents } from '../events/events.ts'

/**
 * One account of the provider, as seen by all of this process who draw on it. The generated clients are the SDK's own; they share one keep-alive agent
 * without Nagle's delay, and what their answers say of rate limits is fed to `creates`.
 */
export interface Account {
  readonly apiUrl: string
  /** What was asked for; undefined leaves it to the account. */
  readonly region: string | undefined
  readonly clock: Clock
  readonly sandboxes: SandboxApi
  readonly snapshots: SnapshotsApi
  readonly warmPools: WarmPoolsApi
  readonly organizations: OrganizationsApi
  /** A word for the account that says nothing of its key: the same in every process that has the key. */
  readonly word: string
  /** One bucket for every pool that creates on this account, and what other processes have of its limit. */
  readonly creates: JointBucket
  readonly events: SandboxEvents
  /** Commands and sessions in one sandbox. */
  processes(sandbox: Pick<SandboxDto, 'id' | 'toolboxProxyUrl'>): ProcessApi
  /** The SDK itself, for what only it does: pushing a build context and following a build. Loaded when first asked for. */
  sdk(): Promise<Daytona>
  /** Ends this holder's share; the last one closes sockets. Twice is once. */
  release(): Promise<void>
}
