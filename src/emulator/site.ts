import type { Access } from './access.ts'
import type { Context } from './context.ts'
import type { Sandboxes } from './sandboxes.ts'
import type { Snapshots } from './snapshots.ts'
import type { Storage } from './storage.ts'
import type { WarmPools } from './warm-pools.ts'

/** What the routes stand on. */
export interface Site {
  readonly context: Context
  readonly sandboxes: Sandboxes
  readonly pools: WarmPools
  readonly snapshots: Snapshots
  readonly storage: Storage
  readonly access: Access
  readonly organizationId: string
  /** Of the emulator itself, without a path: `http://127.0.0.1:PORT`. Known once it listens. */
  origin(): string
  sshPort(): number
}
