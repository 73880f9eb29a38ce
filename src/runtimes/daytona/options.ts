import type { Image } from '@daytonaio/sdk'
import type { Clock } from '../../clock.ts'
import type { SandboxId } from '../../ids.ts'
import type { SandboxOrigin } from '../runtime.ts'

/** How a sandbox is reached: an SSH local-forward through the provider's gateway, or a WebSocket to its preview address. */
export type Transport = 'ssh' | 'websocket'

/** How a sandbox came to be usable, in milliseconds since its create was sent. */
export interface SandboxStages {
  readonly id: SandboxId
  readonly origin: SandboxOrigin
  /** Until the provider answered the create, the claim or the fork. */
  readonly createdMs: number
  /** Until it had started. */
  readonly startedMs: number
  /** Until its environment had answered `hello`, and, for one made ahead, the session was parked. */
  readonly reachedMs: number
  /** How it was reached. */
  readonly transport: Transport
}

/** How sandboxes are made at Daytona and reached there; all of it has a default. */
export interface DaytonaRuntimeOptions {
  /**
   * What the snapshot is built from, when it is not there yet: `Image.fromDockerfile('Dockerfile.hud')`, or the Dockerfile's path. The snapshot's name
   * then ends with a hash of the Dockerfile and of all that it copies, so that a change is a new snapshot. Absent: the snapshot must be there.
   */
  readonly image?: Image | string
  /** Default: `DAYTONA_API_KEY`. */
  readonly apiKey?: string
  /** Default: `DAYTONA_API_URL`, else the provider's. */
  readonly apiUrl?: string
  /** Where sandboxes are to be. Default: `DAYTONA_TARGET`, else the account's own default. */
  readonly region?: string
  /** Starts the environment's server in a sandbox, listening on `port` on every interface. Default: the `CMD` of the image's Dockerfile. */
  readonly command?: string
  /** Default 8765. */
  readonly port?: number
  /** Default `auto`: the one that answers first, found with the first sandbox. */
  readonly transport?: Transport | 'auto'
  /** vCPUs, and GiB of memory and disk of one sandbox. Default: the snapshot's; anything else rules out the provider's own pools. */
  readonly resources?: { readonly cpu?: number; readonly memory?: number; readonly disk?: number }
  /** Variables for the environment's server. They go in with its command, not with the create, which would rule out the provider's own pools. */
  readonly variables?: Readonly<Record<string, string>>
  /**
   * The provider ends a sandbox that nobody has touched for so long, and with it what a killed engine leaves. A live engine touches each of its own
   * every third of that, so it need not be longer than any rollout. Default 15.
   */
  readonly autoStopMinutes?: number
  /** From a sandbox's start until its environment has answered. Default 90,000. */
  readonly startDeadlineMs?: number
  /** Told how long each sandbox took, and where, once it has been reached. */
  readonly onStages?: (stages: SandboxStages) => void
  /** Told each line of a snapshot's build. Default: published on the channel `troupe:sandbox`. */
  readonly onBuildLog?: (line: string) => void
  readonly clock?: Clock
}
