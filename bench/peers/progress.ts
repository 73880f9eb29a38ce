/** What every part of the comparison is given. */
export interface Progress {
  /** Aborts at Ctrl-C: a part then ends what it started and rejects. */
  readonly signal: AbortSignal
  readonly say: (line: string) => void
}
