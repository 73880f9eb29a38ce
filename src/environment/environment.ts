import type { z } from 'zod'
import { defaultSlug } from '../taskset/slug.ts'
import type { Task } from '../taskset/task.ts'
import { checkArguments } from './arguments.ts'
import { badArguments, badName, duplicateTemplate, notAGenerator } from './errors.ts'
import type {
  RowOverrides,
  StructuredAnswer,
  TaskMaker,
  Template,
  TemplateBody,
  TemplateContext,
  TemplateOptions,
} from './template.ts'
import type { IsolationOptions } from './workspace.ts'

/** Marks an environment of whichever copy of this package made it. */
const BRAND = Symbol.for('troupe.environment')

/** What an environment is beside its name and its templates. */
export interface EnvironmentOptions {
  readonly version?: string
  /** Whether each session gets a directory and a shell, and how they are isolated. Default false. */
  readonly workspace?: boolean | Partial<IsolationOptions>
}

/** Why a teardown hook runs: a task was graded or cancelled, or the session is over. */
export type TeardownReason = 'graded' | 'cancelled' | 'closed'

/** What the hooks of an environment do. A `check` runs once before serving, and throws what is missing. */
export interface EnvironmentHooks {
  readonly checks: readonly (() => void | Promise<void>)[]
  readonly sessionStarts: readonly ((context: TemplateContext) => void | Promise<void>)[]
  readonly teardowns: readonly ((context: TemplateContext, reason: TeardownReason) => void | Promise<void>)[]
}

/** What a template without a schema takes. */
type NoArguments = z.ZodType<Record<string, never>, Record<string, never>>

/** A named set of task templates, and what their sessions offer. */
export class Environment {
  readonly [BRAND] = true
  readonly name: string
  readonly version: string
  readonly workspace: false | Partial<IsolationOptions>
  readonly templates: ReadonlyMap<string, Template>
  readonly hooks: EnvironmentHooks
  readonly #templates = new Map<string, Template>()
  readonly #checks: (() => void | Promise<void>)[] = []
  readonly #starts: ((context: TemplateContext) => void | Promise<void>)[] = []
  readonly #teardowns: ((context: TemplateContext, reason: TeardownReason) => void | Promise<void>)[] = []

  /** Throws `bad-name` for an empty name. */
  constructor(name: string, options: EnvironmentOptions = {}) {
    if (typeof name !== 'string' || name === '') throw badName('an environment', name)
    this.name = name
    this.version = options.version ?? '0.0.1'
    this.workspace = options.workspace === true ? {} : (options.workspace ?? false)
    this.templates = this.#templates
    this.hooks = { checks: this.#checks, sessionStarts: this.#starts, teardowns: this.#teardowns }
  }

  /**
   * Adds a template and answers the function that makes its task rows. Throws `duplicate-template`, `bad-name`, and
   * `bad-template` for a body that is no async generator.
   */
  template<Returns extends z.ZodType, Args extends z.ZodType = NoArguments>(
    id: string,
    options: TemplateOptions<Args> & { readonly returns: Returns },
    body: TemplateBody<z.output<Args>, StructuredAnswer<z.output<Returns>>>,
  ): TaskMaker<z.input<Args>>
  template<Args extends z.ZodType = NoArguments>(
    id: string,
    options: TemplateOptions<Args>,
    body: TemplateBody<z.output<Args>, unknown>,
  ): TaskMaker<z.input<Args>>
  template<Args extends z.ZodType>(
    id: string,
    options: TemplateOptions<Args> & { readonly returns?: z.ZodType },
    body: TemplateBody<never, never>,
  ): TaskMaker<z.input<Args>> {
    if (typeof id !== 'string' || id === '') throw badName(`a template of "${this.name}"`, id)
    if (this.#templates.has(id)) throw duplicateTemplate(this.name, id)
    if (!isAsyncGenerator(body)) throw notAGenerator(id)
    const template: Template = {
      id,
      description: options.description ?? '',
      args: options.args,
      returns: options.returns,
      // The types end here: arguments and answers are read by the schemas before the body gets them.
      body: body as unknown as Template['body'],
    }
    this.#templates.set(id, template)
    const make = (args?: unknown, overrides: RowOverrides = {}) =>
      this.#toTask(template, options.columns, args ?? {}, overrides)
    return Object.assign(make, { id, env: this.name })
  }

  /** Runs once before the environment serves: throw what is missing, and how to get it. */
  onServe(check: () => void | Promise<void>): void {
    this.#checks.push(check)
  }

  /** Runs when a session opens, after its workspace was made. What it throws refuses the session. */
  onSessionStart(hook: (context: TemplateContext) => void | Promise<void>): void {
    this.#starts.push(hook)
  }

  /** Runs after each grade, each cancel, and when the session ends; in the order they were added, for a bounded time. */
  onTeardown(hook: (context: TemplateContext, reason: TeardownReason) => void | Promise<void>): void {
    this.#teardowns.push(hook)
  }

  #toTask<Args extends z.ZodType>(
    template: Template,
    toColumns: TemplateOptions<Args>['columns'],
    args: unknown,
    overrides: RowOverrides,
  ): Task {
    const checked = checkArguments(template, args)
    if (!checked.ok) throw badArguments(this.name, template.id, checked.problems)
    const row: Record<string, unknown> = { ...Object(args) }
    const columns = { ...toColumns?.(checked.args as z.output<Args>), ...overrides.columns }
    return {
      env: this.name,
      id: template.id,
      args: row,
      slug: defaultSlug(template.id, row),
      ...overrides,
      ...(Object.keys(columns).length === 0 ? {} : { columns }),
    }
  }
}

/** True for an environment that any copy of this package made. */
export function isEnvironment(value: unknown): value is Environment {
  return typeof value === 'object' && value !== null && BRAND in value
}

/** Knows it by its prototype: TypeScript may have translated it, but not to a target without async generators. */
function isAsyncGenerator(body: unknown): boolean {
  return typeof body === 'function' && Object.prototype.toString.call(body) === '[object AsyncGeneratorFunction]'
}
