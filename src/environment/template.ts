import type { z } from 'zod'
import type { Clock } from '../clock.ts'
import type { Task } from '../taskset/task.ts'
import type { Score } from './graders/score.ts'
import type { Workspace } from './workspace.ts'

/** What a template knows of the session it runs in. */
export interface TemplateContext {
  /** The session's own directory and shell. Reading it throws `no-workspace` where the environment has none. */
  readonly workspace: Workspace
  /** Aborts when the task is cancelled, replaced or over. */
  readonly signal: AbortSignal
  readonly sessionId: string
  readonly clock: Clock
}

/** What an agent is asked: text or chat messages, alone or in an object with further keys for the agent. */
export type Prompt =
  | string
  | readonly Readonly<Record<string, unknown>>[]
  | {
      readonly prompt: string | readonly Readonly<Record<string, unknown>>[]
      readonly [key: string]: unknown
    }

/** How an agent did: a finite number, or that with its reasons. Other keys travel along. */
export type Verdict =
  | number
  | Score
  | { readonly reward: number; readonly score?: undefined; readonly [key: string]: unknown }

/** An answer to a template that says what it wants back. */
export interface StructuredAnswer<Content> {
  /** The answer as the schema reads it, or the raw text where it does not fit: the template grades that too. */
  readonly content: Content | string
  readonly raw: string
}

/**
 * One task's life: the first yield is the prompt and is resumed with the agent's answer, the second is the score. Ending
 * without a second yield scores 0. `finally` blocks run when the task is cancelled, for a bounded time.
 */
export type TaskLife<Answer = unknown> = AsyncGenerator<Prompt | Verdict, void, Answer>

/** What a template does: one call is the life of one task. */
export type TemplateBody<Args, Answer> = (args: Args, context: TemplateContext) => TaskLife<Answer>

/**
 * `returns`, a schema beside these, has the answer read by it. TypeScript cannot infer what a yield gives from a schema, so such a
 * body says what it is: `async function* (args): TaskLife<StructuredAnswer<number>> { … }`.
 */
export interface TemplateOptions<Args extends z.ZodType> {
  readonly description?: string
  /** Absent: the template takes no arguments. Unknown keys are refused unless the schema is a loose object. */
  readonly args?: Args
  /** Facets of the task rows, from their arguments. */
  readonly columns?: (args: z.output<Args>) => Readonly<Record<string, unknown>>
}

/** A template with its types forgotten: what serving needs. */
export interface Template {
  readonly id: string
  readonly description: string
  readonly args: z.ZodType | undefined
  readonly returns: z.ZodType | undefined
  readonly body: (args: unknown, context: TemplateContext) => AsyncGenerator<unknown, unknown, unknown>
}

/** What a row may say beside its template and arguments. */
export type RowOverrides = Partial<Omit<Task, 'env' | 'id' | 'args'>>

/** Makes task rows. Throws `bad-arguments` with every problem at once. */
export interface TaskMaker<Args> {
  // Without arguments it may be called without any.
  (
    ...given: Record<string, never> extends Args
      ? [args?: Args, overrides?: RowOverrides]
      : [args: Args, overrides?: RowOverrides]
  ): Task
  readonly id: string
  readonly env: string
}
