import { systemClock } from '../../clock.ts'
import { noteSecretsOf } from '../../redact.ts'
import { badOption } from './errors.ts'
import type { DaytonaRuntimeOptions } from './options.ts'

type Defaulted = 'port' | 'transport' | 'variables' | 'autoStopMinutes' | 'startDeadlineMs' | 'clock'

/** A runtime's options with every default in place that needs no look at the outside. */
export interface DaytonaSettings
  extends Omit<DaytonaRuntimeOptions, Defaulted>,
    Required<Pick<DaytonaRuntimeOptions, Defaulted>> {
  readonly snapshot: string
}

/** Throws `daytona-bad-option`, so that what nobody could have meant is said before anything is created. */
export function toDaytonaSettings(snapshot: string, options: DaytonaRuntimeOptions): DaytonaSettings {
  noteSecretsOf(options.variables ?? {})
  const settings = {
    ...options,
    snapshot,
    port: options.port ?? 8765,
    transport: options.transport ?? 'auto',
    variables: options.variables ?? {},
    autoStopMinutes: options.autoStopMinutes ?? 15,
    startDeadlineMs: options.startDeadlineMs ?? 90_000,
    clock: options.clock ?? systemClock,
  }
  const { port, transport, startDeadlineMs } = settings
  if (snapshot.trim() === '') throw badOption('the snapshot', snapshot, 'a name')
  requireWhole('autoStopMinutes', settings.autoStopMinutes, 'a whole number of minutes, 1 at least')
  requireWhole('port', port, 'a port, 1 to 65535')
  if (port > 65_535) throw badOption('port', port, 'a port, 1 to 65535')
  if (!['auto', 'ssh', 'websocket'].includes(transport))
    throw badOption('transport', transport, 'auto, ssh or websocket')
  if (!(startDeadlineMs > 0)) throw badOption('startDeadlineMs', startDeadlineMs, 'a number of milliseconds above 0')
  for (const [name, value] of Object.entries(options.resources ?? {}))
    if (value !== undefined) requireWhole(`resources.${name}`, value, 'a whole number, 1 at least')
  return settings
}

function requireWhole(name: string, value: number, wanted: string): void {
  if (!Number.isInteger(value) || value < 1) throw badOption(name, value, wanted)
}
