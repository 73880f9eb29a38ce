/** One part of a score, in HUD's shape. */
export interface Subscore {
  readonly name: string
  /** From 0 to 1. */
  readonly value: number
  /** Share of the whole; below 0 for a penalty. */
  readonly weight: number
  readonly info?: Readonly<Record<string, unknown>>
  readonly children?: readonly Subscore[]
}

/** What a grader finds: it can be yielded as it is, or be combined with others. */
export interface Score {
  readonly score: number
  readonly subscores?: readonly Subscore[]
  /** Details for people and for the record. */
  readonly info?: Readonly<Record<string, unknown>>
  readonly content?: string
  readonly done?: boolean
  /** The grader itself failed: the run gets no reward. */
  readonly isError?: boolean
  readonly [key: string]: unknown
}
