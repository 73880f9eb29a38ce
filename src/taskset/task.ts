/**
 * One concrete task: a template of an environment with its arguments. Pure data, so one task can drive many rollouts at
 * once; the fields are those of HUD's task rows.
 */
export interface Task {
  /** The environment's name. */
  readonly env: string
  /** The template's id in that environment. */
  readonly id: string
  readonly args: Readonly<Record<string, unknown>>
  /** Unique in a taskset. Default: `id`, plus `-` and 8 hex digits over the arguments when there are any. */
  readonly slug: string
  readonly validation?: readonly Readonly<Record<string, unknown>>[]
  readonly agent_config?: Readonly<Record<string, unknown>>
  /** Facets for tables and filters, for instance `{ bugs: 4 }`. */
  readonly columns?: Readonly<Record<string, unknown>>
  readonly runtime_config?: Readonly<Record<string, unknown>>
  readonly verifier?: Task
}
