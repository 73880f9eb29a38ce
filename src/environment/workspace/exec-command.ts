import type { Readable } from 'node:stream'
import type { Clock } from '../../clock.ts'
import { commandTimedOut } from '../../wire/exec-errors.ts'
import { FrameType } from '../../wire/exec-frames.ts'
import type { ExitMessage, StartMessage } from '../../wire/exec-messages.ts'
import { DEFAULT_MAX_OUTPUT_BYTES } from '../../wire/exec-output.ts'
import type { ExecInput } from './exec-input.ts'
import type { ExecReply } from './exec-server.ts'
import type { WorkspaceSession } from './session.ts'

/** Runs one command of an `exec/1` stream; its last frame is `exit`. Resolves with the exit code. Rejects with `command-timeout` once it is dead. */
export async function runExecCommand(
  session: WorkspaceSession,
  message: StartMessage,
  input: ExecInput,
  reply: ExecReply,
  signal: AbortSignal,
  clock: Clock,
): Promise<number> {
  const { command, timeoutMs, maxOutputBytes = DEFAULT_MAX_OUTPUT_BYTES } = message
  const started = await session.start(command, signal)
  let late = false
  const cancel =
    timeoutMs === undefined
      ? () => {}
      : clock.after(timeoutMs, () => {
          late = true
          started.kill()
        })
  input.feed(started.stdin)
  const droppedStdout = forward(started.stdout, FrameType.stdout, maxOutputBytes, reply)
  const droppedStderr = forward(started.stderr, FrameType.stderr, maxOutputBytes, reply)
  try {
    const end = await started.ended
    if (late && timeoutMs !== undefined) throw commandTimedOut(timeoutMs)
    if (end.why !== undefined) reply.send(FrameType.stderr, Buffer.from(`${end.why}\n`))
    reply.sendJson(FrameType.exit, {
      exitCode: end.exitCode,
      ...(end.signal === undefined ? {} : { signal: end.signal }),
      droppedStdout: droppedStdout(),
      droppedStderr: droppedStderr(),
    } satisfies ExitMessage)
    return end.exitCode
  } finally {
    cancel()
  }
}

/** Sends the first `maxBytes`, no faster than the connection takes them, then reads on and counts. */
function forward(source: Readable, type: FrameType, maxBytes: number, reply: ExecReply): () => number {
  let left = maxBytes
  let dropped = 0
  source.on('data', (chunk: Buffer) => {
    const kept = chunk.subarray(0, left)
    left -= kept.length
    dropped += chunk.length - kept.length
    if (kept.length === 0 || reply.send(type, kept)) return
    source.pause()
    reply.drained().then(() => source.resume())
  })
  return () => dropped
}
