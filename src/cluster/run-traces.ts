import type { Clock } from '../clock.ts'
import { PHASES, type RunHeader } from '../rollout/run.ts'
import { makeNameHider } from '../telemetry/traces/hide-names.ts'
import type { RunTrace } from '../telemetry/traces/run-trace.ts'
import { MOST_TURNS } from '../telemetry/traces/trace-ids.ts'
import { pack, unpackFields } from './codec.ts'
import { badClusterMessage } from './errors.ts'

/** What the spans of a run are made of, for its message. */
export type TracePacker = (trace: RunTrace, header: RunHeader) => Uint8Array

/** Beyond that a trace goes without its turns, so that it fits into a message. */
const MOST_BYTES = 128 * 1024

/** Hides the secrets of this worker, of which the coordinator knows nothing, and says who it is. */
export function makeTracePacker(worker: string, clock: Clock): TracePacker {
  const hide = makeNameHider(clock)
  return ({ attempts }, { error }) => {
    const said = error === undefined ? {} : { said: hide(error.message) }
    const named = attempts.map(({ turns, ...attempt }) => ({
      ...attempt,
      turns: turns.map(({ tool, version, ...turn }) => ({
        ...turn,
        ...(tool === undefined ? {} : { tool: hide(tool) }),
        ...(version === undefined ? {} : { version: hide(version) }),
      })),
    }))
    const whole = pack({ attempts: named, worker, ...said } satisfies RunTrace)
    if (whole.byteLength <= MOST_BYTES) return whole
    const bare = attempts.map(attempt => ({ ...attempt, turns: [] }))
    return pack({ attempts: bare, worker, ...said } satisfies RunTrace)
  }
}

/** Throws `bad-cluster-message`: whoever draws it looks no further. */
export function parseTrace(subject: string, packed: Uint8Array): RunTrace {
  const fields = unpackFields(subject, packed)
  const { attempts, worker, said } = fields
  const isTrace = isList(attempts, isAttempt) && isTextOrNone(worker) && isTextOrNone(said)
  if (!isTrace) throw badClusterMessage(subject, 'it has a trace from which no spans can be made')
  return fields as unknown as RunTrace
}

type Fields = Readonly<Record<string, unknown>>

function isAttempt({ attempt, outcome, startedAt, tookMs, laps, turns, turnCount, error }: Fields): boolean {
  return (
    [attempt, startedAt, tookMs, turnCount].every(isNumber) &&
    typeof outcome === 'string' &&
    isTextOrNone(error) &&
    isList(laps, isLap) &&
    isList(turns, isTurn, MOST_TURNS)
  )
}

const phases: readonly unknown[] = PHASES

function isLap({ phase, atMs, tookMs }: Fields): boolean {
  return phases.includes(phase) && isNumber(atMs) && isNumber(tookMs)
}

function isTurn({ atMs, tookMs, tool, version }: Fields): boolean {
  return isNumber(atMs) && isNumber(tookMs) && isTextOrNone(tool) && isTextOrNone(version)
}

function isList(value: unknown, isOne: (fields: Fields) => boolean, most = Number.POSITIVE_INFINITY): boolean {
  return (
    Array.isArray(value) &&
    value.length <= most &&
    value.every(each => typeof each === 'object' && each !== null && isOne(each))
  )
}

const isNumber = (value: unknown): boolean => typeof value === 'number' && Number.isFinite(value)
const isTextOrNone = (value: unknown): boolean => value === undefined || typeof value === 'string'
