import { hasTag } from '../errors.ts'
import { type Body, type EncodedGroup, toBody } from './body/encode-groups.ts'
import type { BodyLimit } from './body-limit.ts'
import type { Envelope } from './payload.ts'

export interface Delivery<Reply> {
  /** Sends one body, once. */
  readonly send: (part: readonly EncodedGroup[], body: Body) => Promise<Reply>
  /** A body of `bytes` is sent in parts instead; `refused` when the service said so. */
  readonly onSplit: (bytes: number, groups: number, refused: boolean) => void
}

/**
 * Sends groups in as few bodies as pass, one after the other and in order. A body that is refused for its size was not counted: its
 * halves are sent in its place. Any other failure ends the delivery at once, what is left being never sent.
 */
export async function deliverParts<Reply>(
  groups: readonly EncodedGroup[],
  envelope: Envelope,
  limit: BodyLimit,
  { send, onSplit }: Delivery<Reply>,
): Promise<Reply[]> {
  // Of a body's fragments, the first goes without its comma.
  const around = toBody(envelope, []).bytes - 1
  const waiting = limit.cut(groups, around)
  if (waiting.length > 1) onSplit(sizeOf(groups, around), groups.length, false)
  const replies: Reply[] = []
  for (let part = waiting.shift(); part !== undefined; part = waiting.shift()) {
    const body = toBody(
      envelope,
      part.flatMap(({ fragments }) => fragments),
    )
    if (limit.isRefused(body.bytes)) {
      waiting.unshift(...limit.halve(part, around))
      continue
    }
    try {
      replies.push(await send(part, body))
      limit.passed(body.bytes)
    } catch (error) {
      if (!hasTag(error, 'body-too-large')) throw error
      limit.refused(body.bytes)
      waiting.unshift(...limit.halve(part, around))
      onSplit(body.bytes, part.length, true)
    }
  }
  return replies
}

function sizeOf(groups: readonly EncodedGroup[], around: number): number {
  return groups.reduce((sum, { bytes }) => sum + bytes, around)
}
