/** One exchange: what the model was shown and what it put out, or what a tool was asked and answered. */
export interface Turn {
  readonly role: 'assistant' | 'tool'
  /** The text as a person reads it: the model's words, or a command with its output. */
  readonly text: string
  readonly toolCalls?: readonly ToolCall[]
  /** Milliseconds since the agent phase began, and how long the turn took. */
  readonly atMs: number
  readonly tookMs: number
  /** Absent for agents without tokens. */
  readonly tokens?: TurnTokens
  /** Which weights put it out, as the server names them; absent where it names none. */
  readonly version?: string
}

/** One call of a tool by the agent, and what came of it. */
export interface ToolCall {
  readonly name: string
  readonly arguments: Readonly<Record<string, unknown>>
  readonly result: string
  readonly isError: boolean
}

/** Kept together as they came from the sampler and never re-tokenised. */
export interface TurnTokens {
  /** Ids of the whole prompt of this turn. */
  readonly prompt: Uint32Array
  readonly output: Uint32Array
  /** Natural-log probability of each output id, same length as `output`. */
  readonly logprobs: Float32Array
}

/** What happened in one rollout, apart from its verdict. */
export interface Trajectory {
  readonly prompt: unknown
  readonly turns: readonly Turn[]
  readonly answer: unknown
  /** The grader's whole reply: `score`, and `subscores`, `info`, `content` where it gave them. With a verifier, that one's: the grade of record. */
  readonly grade: Readonly<Record<string, unknown>> | null
  /** Of a task with a verifier: the task's own grade, which the verifier was given. Null where it could not be graded. */
  readonly actorGrade?: Readonly<Record<string, unknown>> | null
}
