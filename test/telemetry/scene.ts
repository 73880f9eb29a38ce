import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { ErrorData } from '../../src/errors.ts'
import type { Group } from '../../src/rollout/group.ts'
import type { RunHeader } from '../../src/rollout/run.ts'
import {
  CHANNELS,
  type ChannelMessages,
  type EngineEvent,
  type ReportEvent,
  type WorkersEvent,
} from '../../src/telemetry/channels.ts'

/** What was published while a test listened. */
export interface Heard {
  readonly errors: { readonly name: string; readonly error: ErrorData }[]
  readonly engines: EngineEvent[]
  readonly runs: RunHeader[]
  readonly groups: Group[]
  readonly reports: ReportEvent[]
  readonly workers: WorkersEvent[]
  readonly trainings: ChannelMessages['trainingEvent'][]
}

/** Listens to every channel as long as `body` runs. */
export async function listening(body: (heard: Heard) => Promise<void> | void): Promise<void> {
  const heard: Heard = { errors: [], engines: [], runs: [], groups: [], reports: [], workers: [], trainings: [] }
  const toError = (name: keyof ChannelMessages) => (error: unknown) =>
    void heard.errors.push({ name, error: error as ErrorData })
  const listeners = {
    sandbox: toError('sandbox'),
    actor: toError('actor'),
    deadLetter: toError('deadLetter'),
    training: toError('training'),
    environment: toError('environment'),
    cluster: toError('cluster'),
    engine: (event: unknown) => void heard.engines.push(event as EngineEvent),
    run: (run: unknown) => void heard.runs.push(run as RunHeader),
    group: (group: unknown) => void heard.groups.push(group as Group),
    report: (event: unknown) => void heard.reports.push(event as ReportEvent),
    workers: (event: unknown) => void heard.workers.push(event as WorkersEvent),
    trainingEvent: (event: unknown) => void heard.trainings.push(event as ChannelMessages['trainingEvent']),
  }
  const names = Object.keys(CHANNELS) as (keyof typeof CHANNELS)[]
  for (const name of names) subscribe(CHANNELS[name], listeners[name])
  try {
    await body(heard)
  } finally {
    for (const name of names) unsubscribe(CHANNELS[name], listeners[name])
  }
}
