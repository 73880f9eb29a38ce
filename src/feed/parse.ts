import type { FeedMessage } from './messages.ts'

/** The longest event that is read: several times the largest state. */
const LONGEST_EVENT = 64 * 2 ** 20

/** Takes server-sent events apart, however they arrive; comments and other fields are passed over. */
export interface EventParser {
  /** The data of the events that are whole now. Throws a `RangeError` where one never ends. */
  push(text: string): readonly string[]
}

export function makeEventParser(): EventParser {
  let pieces: string[] = []
  let length = 0
  return {
    push(text) {
      pieces.push(text)
      length += text.length
      if (length > LONGEST_EVENT) throw new RangeError(`an event is longer than ${LONGEST_EVENT} characters`)
      // An event's end may lie between two pieces: only then is what came before looked at again.
      if (!text.includes('\n\n') && !(text.startsWith('\n') && pieces.length > 1)) return []
      const blocks = pieces.join('').split('\n\n')
      const rest = blocks.pop() ?? ''
      pieces = rest === '' ? [] : [rest]
      length = rest.length
      return blocks.flatMap(block => dataOf(block))
    },
  }
}

function dataOf(block: string): readonly string[] {
  const lines = block.split('\n').filter(line => line.startsWith('data:'))
  if (lines.length === 0) return []
  return [lines.map(line => line.slice(line.startsWith('data: ') ? 6 : 5)).join('\n')]
}

/**
 * A feed's message from its JSON. Looks at the fields by which messages are told apart, and trusts the rest: the version on both sides is compared by whoever reads
 * a state. Undefined for what is none.
 */
export function parseFeedMessage(text: string): FeedMessage | undefined {
  let found: unknown
  try {
    found = JSON.parse(text)
  } catch {
    return undefined
  }
  if (typeof found !== 'object' || found === null || !('type' in found) || !('at' in found) || !('now' in found))
    return undefined
  const isState = found.type === 'state' && 'job' in found && 'runs' in found && 'training' in found
  return isState || found.type === 'tick' ? (found as FeedMessage) : undefined
}
