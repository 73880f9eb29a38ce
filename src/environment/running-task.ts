import { bounded, untilAborted } from '../bounded.ts'
import type { Clock } from '../clock.ts'
import type { ErrorData } from '../errors.ts'
import type { GradeFrame, PromptFrame } from '../wire/session.ts'
import { missingPrompt, taskCancelled, teardownFailed, teardownTimeout } from './errors.ts'
import { toAnswer, toGradeFrame, toPromptFrame } from './read-yields.ts'
import type { Template, TemplateContext } from './template.ts'

export interface TaskPorts {
  readonly clock: Clock
  /** How long `finally` blocks may take. */
  readonly teardownMs: number
  /** Told of `finally` blocks that failed or did not end; the grade stands. */
  readonly onError: (error: ErrorData) => void
  makeContext(signal: AbortSignal): TemplateContext
}

/** One template's generator, from its first yield to its end. */
export class RunningTask {
  readonly #template: Template
  readonly #ports: TaskPorts
  readonly #controller = new AbortController()
  readonly #generator: AsyncGenerator<unknown, unknown, unknown>
  #ending: Promise<void> | undefined

  /** Runs nothing of the template yet. */
  constructor(template: Template, args: unknown, ports: TaskPorts) {
    this.#template = template
    this.#ports = ports
    this.#generator = template.body(args, ports.makeContext(this.#controller.signal))
  }

  /** Runs the template up to its prompt. Throws what it throws, `missing-prompt`, `bad-prompt` and `task-cancelled`. */
  async begin(signal: AbortSignal): Promise<PromptFrame> {
    const first = await this.#resume(undefined, signal)
    if (first.done === true) throw missingPrompt(this.#template.id)
    return toPromptFrame(this.#template.id, first.value)
  }

  /** Resumes it with the agent's answer. Throws what it throws, `bad-score` and `task-cancelled`. The caller ends the task. */
  async grade(answer: unknown, signal: AbortSignal): Promise<GradeFrame> {
    const second = await this.#resume(toAnswer(this.#template, answer), signal)
    if (second.done !== true) return toGradeFrame(this.#template.id, second.value)
    return { score: 0, info: { reason: 'the template ended without a score' } }
  }

  /** Lets `finally` blocks run, for a bounded time. Never rejects; safe to call twice. */
  end(): Promise<void> {
    this.#ending ??= this.#end()
    return this.#ending
  }

  async #resume(value: unknown, signal: AbortSignal): Promise<IteratorResult<unknown, unknown>> {
    const cut = () => this.#cut()
    if (signal.aborted) cut()
    signal.addEventListener('abort', cut, { once: true })
    try {
      this.#controller.signal.throwIfAborted()
      return await untilAborted(this.#generator.next(value), this.#controller.signal)
    } finally {
      signal.removeEventListener('abort', cut)
    }
  }

  async #end(): Promise<void> {
    this.#cut()
    const { clock, teardownMs, onError } = this.#ports
    const what = `the end of template "${this.#template.id}"`
    // A generator that is still awaiting something takes this up at its next yield; one that never began has nothing to run.
    const end = await bounded(clock, teardownMs, () => this.#generator.return(undefined))
    if (end.kind === 'late') onError(teardownTimeout(what, teardownMs).data)
    if (end.kind === 'failed') onError(teardownFailed(what, end.error).data)
  }

  #cut(): void {
    this.#controller.abort(taskCancelled(this.#template.id))
  }
}
