import type { RuntimeRequest } from './job-board.ts'

/** Where an engine finds its workers. Data: no secret is in it. */
export interface ClusterOptions {
  /** `nats://HOST:PORT`, several with a comma between them. Credentials are in files that environment variables name; see docs/scale-out.md. */
  readonly nats: string
  /** Where each worker's sandboxes come from, as the options of the command say it. */
  readonly runtime: RuntimeRequest
  /** A worker from which nothing is heard for so long loses its groups to others. Default 30,000. */
  readonly redeliverMs?: number
}

export const DEFAULT_REDELIVER_MS = 30_000
