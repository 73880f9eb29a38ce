import { bounded } from '../bounded.ts'
import type { Clock } from '../clock.ts'
import type { ErrorData } from '../errors.ts'
import type { Binding } from '../wire/binding.ts'
import type { GradeFrame, PromptFrame } from '../wire/session.ts'
import { checkArguments } from './arguments.ts'
import type { Environment, TeardownReason } from './environment.ts'
import {
  badArguments,
  noTask,
  noWorkspace,
  sessionClosed,
  teardownFailed,
  teardownTimeout,
  unknownTemplate,
} from './errors.ts'
import { RunningTask } from './running-task.ts'
import type { ServedSession } from './served.ts'
import type { TemplateContext } from './template.ts'
import type { OpenWorkspace, WorkspaceHost } from './workspace.ts'

export interface SessionPorts {
  readonly environment: Environment
  readonly host: WorkspaceHost | undefined
  readonly clock: Clock
  readonly teardownMs: number
  readonly onError: (error: ErrorData) => void
}

/** Makes the session's workspace and runs the start hooks. What fails is undone before this rejects. */
export async function openTemplateSession(sessionId: string, ports: SessionPorts): Promise<ServedSession> {
  const opened = await ports.host?.open(sessionId)
  const session = new TemplateSession(sessionId, opened, ports)
  try {
    await session.runStartHooks()
    return session
  } catch (error) {
    await opened?.close()
    throw error
  }
}

class TemplateSession implements ServedSession {
  readonly bindings: readonly Binding[]
  readonly #id: string
  readonly #opened: OpenWorkspace | undefined
  readonly #ports: SessionPorts
  readonly #controller = new AbortController()
  /** The task whose prompt was given, or is being made. */
  #task: { readonly running: RunningTask; begun: boolean } | undefined
  #closing: Promise<void> | undefined

  constructor(sessionId: string, opened: OpenWorkspace | undefined, ports: SessionPorts) {
    this.#id = sessionId
    this.#opened = opened
    this.#ports = ports
    this.bindings = opened?.bindings ?? []
  }

  get hasTask(): boolean {
    return this.#task?.begun === true
  }

  async runStartHooks(): Promise<void> {
    const context = this.#makeContext(this.#controller.signal)
    for (const hook of this.#ports.environment.hooks.sessionStarts) await hook(context)
  }

  async start(id: string, args: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<PromptFrame> {
    const { name, templates } = this.#ports.environment
    const template = templates.get(id)
    if (template === undefined) throw unknownTemplate(name, id, [...templates.keys()])
    const checked = checkArguments(template, args)
    if (!checked.ok) throw badArguments(name, id, checked.problems)
    await this.cancel()
    if (this.#closing !== undefined) throw sessionClosed(this.#id)
    const { clock, teardownMs, onError } = this.#ports
    const makeContext = (taskSignal: AbortSignal) => this.#makeContext(taskSignal)
    const running = new RunningTask(template, checked.args, { clock, teardownMs, onError, makeContext })
    const task = { running, begun: false }
    this.#task = task
    try {
      const frame = await running.begin(signal)
      task.begun = true
      return frame
    } catch (error) {
      await this.#drop(task, 'cancelled')
      throw error
    }
  }

  async grade(params: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<GradeFrame> {
    const task = this.#task
    if (task?.begun !== true) throw noTask(this.#id)
    // Graded once, whatever comes of it: a second grade finds no task.
    task.begun = false
    try {
      return await task.running.grade(params.answer, signal)
    } finally {
      await this.#drop(task, 'graded')
    }
  }

  async cancel(): Promise<void> {
    const task = this.#task
    if (task !== undefined) await this.#drop(task, 'cancelled')
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    await this.cancel()
    await this.#runTeardownHooks('closed')
    this.#controller.abort(sessionClosed(this.#id))
    await this.#opened?.close()
  }

  /** Ends a task; the hooks run once for it, whoever ends it first. */
  async #drop(task: { readonly running: RunningTask }, reason: TeardownReason): Promise<void> {
    const mine = this.#task === task
    if (mine) this.#task = undefined
    await task.running.end()
    if (mine) await this.#runTeardownHooks(reason)
  }

  async #runTeardownHooks(reason: TeardownReason): Promise<void> {
    const { environment, clock, teardownMs, onError } = this.#ports
    const context = this.#makeContext(this.#controller.signal)
    for (const hook of environment.hooks.teardowns) {
      const what = `a teardown hook of "${environment.name}"`
      const end = await bounded(clock, teardownMs, () => hook(context, reason))
      if (end.kind === 'late') onError(teardownTimeout(what, teardownMs).data)
      if (end.kind === 'failed') onError(teardownFailed(what, end.error).data)
    }
  }

  #makeContext(signal: AbortSignal): TemplateContext {
    const { environment, clock } = this.#ports
    const workspace = this.#opened?.workspace
    return {
      get workspace() {
        if (workspace === undefined) throw noWorkspace(environment.name)
        return workspace
      },
      signal,
      sessionId: this.#id,
      clock,
    }
  }
}
