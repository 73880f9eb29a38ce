import { writeSync } from 'node:fs'

/** What a training tells of itself while it goes. The first of each phase is where most depends on what was durable, and is always tried. */
export const MARKS = {
  starting: ['job opened', 'policy served', 'putting base', 'put base', 'step-began'],
  'rolling out': ['agent answered', 'agent began', 'putting evaluation', 'evaluated'],
  training: [
    'answered forward-backward',
    'putting call-sending',
    'put call-sending',
    'sending forward-backward',
    'put call-over',
    'chunk-trained',
  ],
  stepping: [
    'answered optim-step',
    'putting optim-stepping',
    'sending optim-step',
    'put optim-stepped',
    'settled',
    'putting record',
    'step-ended',
  ],
} as const

export type Phase = keyof typeof MARKS

/** The n-th time that something is told. */
export interface Place {
  readonly mark: string
  readonly occurrence: number
}

/** Told marks are lines of stdout with this before them. */
export const MARK_PREFIX = 'mark '

/**
 * Tells marks from any thread, written before this returns, so that whoever reads them knows that no more has happened. At `last`
 * the process kills itself: nothing comes between.
 */
export function makeTeller(last: Place | undefined): (mark: string) => void {
  let seen = 0
  return mark => {
    writeSync(1, `${MARK_PREFIX}${mark}\n`)
    if (mark !== last?.mark) return
    seen += 1
    if (seen === last.occurrence) process.kill(process.pid, 'SIGKILL')
  }
}

/** What is kept under a record's key, in one word. */
export function describeRecord(key: string, value: unknown): string {
  const name = key.split('/').at(-1) ?? key
  if (key.startsWith('training/evaluations/')) return 'evaluation'
  if (name.startsWith('call-'))
    return `call-${typeOf(typeof value === 'object' && value !== null && 'end' in value ? value.end : undefined)}`
  return name === 'optim' ? `optim-${typeOf(value)}` : name
}

function typeOf(value: unknown): string {
  return typeof value === 'object' && value !== null && 'type' in value ? String(value.type) : 'unknown'
}
