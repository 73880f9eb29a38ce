import type { Command } from 'commander'
import type { Job } from '../job/job.ts'
import type { JobEvent } from '../telemetry/events/job-event.ts'
import type { Cli } from './cli.ts'
import { quietly } from './console.ts'
import { type JsonEvents, openJsonEvents } from './json-events.ts'
import { poll, type Shown, showProgress } from './progress/show.ts'
import { type ProgressView, toProgressData } from './progress/view.ts'

/** Options of commands that take long: who wants to hear how much. */
export interface TellArguments {
  readonly json?: true
  readonly quiet?: true
}

/** Adds `--json` and `--quiet`; `what` is the result. */
export function addTellOptions(command: Command, what: string): Command {
  return addQuietOption(
    command.option('--json', `print what happens as JSON, an object a line; the last holds ${what}`),
  )
}

/** Adds `--quiet` alone, where `--json` is one document or there is none. */
export function addQuietOption(command: Command): Command {
  return command.option('--quiet', 'say nothing on stderr but errors, addresses and paths')
}

/** How a command that takes long tells what it does: to people, to programs, or hardly at all. */
export interface Telling {
  /** Its console says no more than was asked for. */
  readonly cli: Cli
  /** With `--json`: tells what happens to the job from now on. Before its first run. */
  attach(job: Pick<Job, 'jobId' | 'snapshot'>): void
  /** With `--json`: tells this, too. */
  tell(event: JobEvent): void
  /** Shows how far the command has come, until it is stopped; twice is once. `passing`: nothing is left of it. */
  show(view: () => ProgressView, options?: { readonly passing?: boolean }): Shown
  /** The end: what came of it, once. `words` are for people, on stderr where stdout is for programs. */
  finish(result: unknown, words: (colours: boolean) => string): Promise<void>
  /** Writes what waits. After the end, or instead of it. */
  close(): Promise<void>
}

const SAMPLE_MS = 5_000

/** Prints nothing by itself. */
export function openTelling({ json, quiet }: TellArguments, outer: Cli): Telling {
  const console = quiet === true ? quietly(outer.console) : outer.console
  const cli: Cli = { ...outer, console }
  const events = json === true ? openJsonEvents(console, cli.clock, error => void cli.tell(error)) : undefined
  return {
    cli,
    attach: job => events?.attach(job),
    tell: event => events?.append(event),
    show(view, { passing = false } = {}) {
      const shown = quiet === true ? undefined : showProgress(view, { clock: cli.clock, console, passing })
      let isStopped = false
      const told = events === undefined ? undefined : tellProgress(view, events, cli)
      return {
        stop() {
          if (isStopped) return
          isStopped = true
          shown?.stop()
          told?.stop()
        },
      }
    },
    async finish(result, words) {
      await events?.finish(result)
      const text = words(events === undefined && console.colours)
      if (text === '') return
      if (events === undefined) await console.print(text)
      else console.talk(text)
    },
    close: async () => events?.close(),
  }
}

/** Every five seconds, and at the end. */
function tellProgress(view: () => ProgressView, events: JsonEvents, { clock }: Cli): Shown {
  const tell = () => events.append({ type: 'progress', ...toProgressData(view()) })
  const stopPolling = poll(clock, SAMPLE_MS, tell)
  return {
    stop() {
      stopPolling()
      tell()
    },
  }
}
