import type { ErrorData } from '../errors.ts'
import type { StopReason } from './actor.ts'
import type { DeadLetterReason } from './dead-letters.ts'
import { malformedBatch } from './errors.ts'
import { Reference } from './reference.ts'

/** What two systems say to each other: envelopes to target 0. */
export type Control =
  | { readonly type: 'watch'; readonly address: string }
  | { readonly type: 'unwatch'; readonly address: string }
  | { readonly type: 'terminated'; readonly address: string; readonly reason: StopReason }
  | {
      readonly type: 'undelivered'
      /** The open question. */
      readonly question: string
      readonly address: string
      readonly reason: DeadLetterReason
      readonly cause: ErrorData | undefined
    }
  /** A message for an actor that this link does not end at, or with an asker of a third node. */
  | {
      readonly type: 'forward'
      readonly to: Reference
      readonly replyTo: Reference | undefined
      readonly message: unknown
    }

/** Throws `malformed-batch` for anything else. */
export function parseControl(value: unknown): Control {
  const control = value as Control
  const known = typeof value === 'object' && value !== null && shapes[control.type]?.(control)
  if (!known) throw malformedBatch('it holds an unknown control message')
  return control
}

const shapes: { readonly [Type in Control['type']]: (control: Control) => boolean } = {
  watch: hasAddress,
  unwatch: hasAddress,
  terminated: control => hasAddress(control) && 'reason' in control && typeof control.reason === 'object',
  undelivered: control => hasAddress(control) && 'question' in control && typeof control.question === 'string',
  forward: control => control.type === 'forward' && control.to instanceof Reference,
}

function hasAddress(control: Control): boolean {
  return 'address' in control && typeof control.address === 'string'
}
