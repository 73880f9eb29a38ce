import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { ErrorData } from '../errors.ts'
import type { JobId } from '../ids.ts'
import type { Group } from '../rollout/group.ts'
import type { RunHeader } from '../rollout/run.ts'
import type { TrainingEvent } from '../training/loop/events.ts'
import { CHANNELS, type ChannelMessages, type EngineEvent, type WorkersEvent } from './channels.ts'

/** Where a problem was told. What environments tell is left to others: where nobody listens to that, it is a process warning, and counting it would silence it. */
export const PROBLEM_KINDS = ['sandbox', 'actor', 'dead-letter', 'training', 'report', 'cluster'] as const
/** One of those places. */
export type ProblemKind = (typeof PROBLEM_KINDS)[number]

/** What there is to hear of one job. None may throw: `node:diagnostics_channel` makes that an uncaught exception. */
export interface JobListeners {
  engine(event: EngineEvent): void
  /** Left out by those who look at runs alone. */
  workers?(event: WorkersEvent): void
  run(header: RunHeader): void
  group(group: Group): void
  training(event: TrainingEvent): void
  problem(kind: ProblemKind, error: ErrorData): void
}

/** Calls these for what is published of that job, and for problems that name no job. Returns how to stop. */
export function listenToJob(jobId: JobId, listeners: JobListeners): () => void {
  const ours = (message: { readonly jobId: JobId }) => message.jobId === jobId
  const problem = (kind: ProblemKind) => (error: ErrorData) => {
    const named = error.details?.jobId
    if (named === undefined || named === jobId) listeners.problem(kind, error)
  }
  const stops = [
    listen('engine', event => ours(event) && listeners.engine(event)),
    listen('workers', event => ours(event) && listeners.workers?.(event)),
    listen('run', header => ours(header) && listeners.run(header)),
    listen('group', group => ours(group) && listeners.group(group)),
    listen('trainingEvent', message => ours(message) && listeners.training(message.event)),
    listen('report', event => ours(event) && event.type === 'problem' && listeners.problem('report', event.error)),
    listen('sandbox', problem('sandbox')),
    listen('actor', problem('actor')),
    listen('deadLetter', problem('dead-letter')),
    listen('training', problem('training')),
    listen('cluster', problem('cluster')),
  ]
  return () => {
    for (const stop of stops) stop()
  }
}

function listen<Name extends keyof ChannelMessages>(
  name: Name,
  listener: (message: ChannelMessages[Name]) => unknown,
): () => void {
  // A channel's messages are untyped; only `publish` writes to ours, and that is typed.
  const receive = (message: unknown) => void listener(message as ChannelMessages[Name])
  subscribe(CHANNELS[name], receive)
  return () => void unsubscribe(CHANNELS[name], receive)
}
