import type { LadderArguments } from './ladder/options.ts'

/** What a benchmark is given. */
export interface Given extends LadderArguments {
  /** Aborts at Ctrl-C. What has been measured until then is still returned. */
  readonly signal?: AbortSignal
}
