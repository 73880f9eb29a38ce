import { makeRandom } from '../random.ts'
import { badFault } from './errors.ts'

/** What the emulator can be told to do wrong. */
export const FAULT_KINDS = [
  /** Calls answered with 429 and `Retry-After`. */
  'too-many-requests',
  /** Calls answered with 500, 502 or 503. */
  'server-error',
  /** Commands and sessions in a sandbox answered with 502 before anything is done. */
  'toolbox-error',
  /** Creates and forks whose connection breaks before the answer; the sandbox exists all the same. */
  'reset-create',
  /** Other calls, those of the toolbox too, whose connection breaks before the answer; what they asked for is done. */
  'reset',
  /** Creates that end in `error`. */
  'create-error',
  /** Sandboxes that go to `error` a few seconds after their start, with all that ran in them. */
  'lost',
  /** Deletes that are accepted and never come to an end. */
  'stuck-deleting',
  /** Servers that take ten times as long to answer. */
  'slow-boot',
] as const

/** One of `FAULT_KINDS`. */
export type FaultKind = (typeof FAULT_KINDS)[number]

/** `share` of all (0 to 1), or the `next` so many. */
export interface Fault {
  readonly kind: FaultKind
  readonly share?: number
  readonly next?: number
}

export interface Faults {
  set(fault: Fault): void
  clear(): void
  /** Whether this one is hit. */
  strikes(kind: FaultKind): boolean
  /** How often each struck. */
  readonly struck: Readonly<Partial<Record<FaultKind, number>>>
}

export function makeFaults(seed: number, initial: readonly Fault[] = []): Faults {
  const random = makeRandom(seed)
  const shares = new Map<FaultKind, number>()
  const coming = new Map<FaultKind, number>()
  const struck: Partial<Record<FaultKind, number>> = {}
  const set = ({ kind, share, next }: Fault) => {
    if (share !== undefined) shares.set(kind, share)
    if (next !== undefined) coming.set(kind, next)
  }
  for (const fault of initial) set(fault)

  function decide(kind: FaultKind): boolean {
    const left = coming.get(kind) ?? 0
    if (left > 0) {
      coming.set(kind, left - 1)
      return true
    }
    const share = shares.get(kind) ?? 0
    return share > 0 && random() < share
  }

  return {
    set,
    clear: () => {
      shares.clear()
      coming.clear()
    },
    strikes(kind) {
      const hit = decide(kind)
      if (hit) struck[kind] = (struck[kind] ?? 0) + 1
      return hit
    },
    struck,
  }
}

/** `reset-create=0.01`. Throws `emulator-bad-fault`. */
export function parseFault(text: string): Fault {
  const [name = '', number = ''] = text.split('=')
  const kind = FAULT_KINDS.find(each => each === name)
  const share = Number(number)
  if (kind === undefined || number.trim() === '' || !(share >= 0 && share <= 1)) throw badFault(text, FAULT_KINDS)
  return { kind, share }
}
