import { type ErrorData, TroupeError, toErrorData } from '../errors.ts'

export function threadLost(node: string, thrown: unknown): ErrorData {
  const cause = toErrorData(thrown)
  const advice =
    cause.tag === 'err-worker-out-of-memory'
      ? 'It ran out of memory: host fewer groups in a thread, or raise threadHeapBytes.'
      : 'A fresh one takes its place; the cause says what ended it.'
  return { tag: 'thread-lost', message: `The thread ${node} ended: ${cause.message}. ${advice}`, address: node, cause }
}

export function threadHung(node: string, hangMs: number): ErrorData {
  return {
    tag: 'thread-hung',
    message: `The thread ${node} gave no sign of life for ${hangMs} ms and was ended. Something in it blocks its event loop: move that to a process, or raise threadHangMs.`,
    address: node,
    details: { hangMs },
  }
}

export function threadStuck(node: string, deadlineMs: number): ErrorData {
  return {
    tag: 'thread-stuck',
    message: `The shard in ${node} did not stop within ${deadlineMs} ms and its thread was ended.`,
    address: node,
    details: { deadlineMs },
  }
}

export function shardEnded(node: string): Error {
  return new Error(`the shard in ${node} ended by itself`)
}

export function portClosed(node: string): Error {
  return new Error(`the port to ${node} closed`)
}

export function threadsFailing(node: string, restarts: number, periodMs: number, cause: ErrorData): ErrorData {
  return {
    tag: 'threads-failing',
    message: `The thread ${node} ended, and so did ${restarts} before it within ${periodMs} ms: no fresh one is started. See the cause.`,
    address: node,
    details: { restarts, periodMs },
    cause,
  }
}

export function noShard(entry: string): TroupeError {
  return new TroupeError({
    tag: 'no-shard',
    message: `${entry} exports no function startShard(system, data): a thread has nothing to run.`,
    address: entry,
  })
}

export function threadsLeft(count: number, deadlineMs: number): TroupeError {
  return new TroupeError({
    tag: 'threads-left',
    message: `${count} thread(s) did not end within ${deadlineMs} ms, most likely inside a native call. They end with the process.`,
    details: { count, deadlineMs },
  })
}
