import { type ErrorData, TroupeError } from '../errors.ts'
import type { DeadLetterReason } from './dead-letters.ts'

export function askTimeout(address: string, deadlineMs: number): TroupeError {
  return new TroupeError({
    tag: 'ask-timeout',
    message: `${address} did not answer within ${deadlineMs} ms. It may be busy, stuck, or may have lost the question in a restart: ask with a longer deadline, or see its dead letters.`,
    address,
    details: { deadlineMs },
  })
}

export function undelivered(address: string, reason: DeadLetterReason, cause?: ErrorData): TroupeError {
  return new TroupeError({
    tag: 'dead-letter',
    message: `The question to ${address} was not delivered: ${explain[reason]}.`,
    address,
    details: { reason },
    ...(cause === undefined ? {} : { cause }),
  })
}

const explain: Record<DeadLetterReason, string> = {
  'mailbox-full': 'its mailbox is full, so ask again later or with fewer questions in flight',
  stopped: 'the actor has stopped',
  unknown: 'no actor has that address',
  failed: 'the actor failed while it handled it',
  'link-down': 'the link to its node is down',
  'not-data': 'it holds something that is no data (a function or a symbol), so send plain data and refs only',
  undecodable: 'it could not be decoded at the other end',
  'late-reply': 'the answer came after the deadline',
}

export function linkDown(peer: string, cause?: ErrorData): ErrorData {
  return {
    tag: 'link-down',
    message: `The link to ${peer} is down: actors there cannot be reached under their old addresses.`,
    address: peer,
    ...(cause === undefined ? {} : { cause }),
  }
}

export function askLinkDown(address: string, down: ErrorData): TroupeError {
  return new TroupeError({ ...down, address })
}

export function nameInUse(address: string): TroupeError {
  return new TroupeError({
    tag: 'name-in-use',
    message: `${address} is running: choose another name, or spawn without a name.`,
    address,
  })
}

export function badName(name: string): TroupeError {
  return new TroupeError({
    tag: 'bad-actor-name',
    message: `"${name}" cannot name an actor or a node: use at least one character, and neither "/" nor "#".`,
  })
}

export function spawnWhileStopping(address: string): TroupeError {
  return new TroupeError({ tag: 'stopping', message: `${address} is stopping and starts no child any more.`, address })
}

export function notData(kind: string): TroupeError {
  return new TroupeError({
    tag: 'not-data',
    message: `A message holds a ${kind}, which cannot travel: send plain data, typed arrays and refs only.`,
  })
}

export function malformedBatch(detail: string): TroupeError {
  return new TroupeError({
    tag: 'malformed-batch',
    message: `A batch of messages cannot be read: ${detail}. Both ends must run the same version.`,
  })
}

export function stopTooSlow(address: string, deadlineMs: number): ErrorData {
  return {
    tag: 'stop-timeout',
    message: `onStop of ${address} did not finish within ${deadlineMs} ms and is no longer waited for.`,
    address,
    details: { deadlineMs },
  }
}

export function alreadyConnected(peer: string): TroupeError {
  return new TroupeError({
    tag: 'already-connected',
    message: `There is a link to ${peer} already: close it first, or give the new node a name of its own.`,
    address: peer,
  })
}
