import type { ProcessApi } from '@daytona/toolbox-api-client'
import { settleWithin, untilAborted } from '../../../bounded.ts'
import { type Clock, sleep } from '../../../clock.ts'
import { hasTag } from '../../../errors.ts'
import { callDaytona } from '../account/call.ts'
import { callPatiently } from '../account/patience.ts'
import { toCommandLine } from './command-line.ts'
import { followLog } from './command-log.ts'

/** What starts the environment's server in a sandbox. */
export interface ServeCommand {
  readonly command: string
  /** For the server alone: they go in with the command. */
  readonly variables: Readonly<Record<string, string>>
}

/** The command that serves, once it has been started. */
export interface StartedServer {
  /** True once it says that it serves; false when what it says cannot be followed. */
  readonly announced: Promise<boolean>
  hasAnnounced(): boolean
  /** Resolves when it has ended, looked for until `signal` aborts. */
  exited(signal: AbortSignal): Promise<{ readonly exitCode: number; readonly output: string }>
  /** The last output; empty when it cannot be had. Bounded. */
  output(): Promise<string>
  close(): void
}

/** A server that came with its sandbox: it was started elsewhere, and nothing is known of its command. */
export const FORKED: StartedServer = {
  announced: Promise.resolve(false),
  hasAnnounced: () => false,
  exited: signal => untilAborted(new Promise<never>(() => {}), signal),
  output: async () => '',
  close: () => {},
}

const SESSION = 'troupe'
/** Of the output. */
const KEEP_BYTES = 4_096
/** Printed by every server of the control channel once it listens. */
const ANNOUNCEMENT = 'HUD_SERVE_PORT='
const FIRST_LOOK_MS = 300
const LONGEST_LOOK_MS = 5_000
const OUTPUT_MS = 5_000

/** Starts the server and resolves as soon as the provider has taken the command. Rejects as `callDaytona` does. */
export async function startServer(
  processes: ProcessApi,
  { command, variables }: ServeCommand,
  { id, clock, signal }: { readonly id: string; readonly clock: Clock; readonly signal: AbortSignal },
): Promise<StartedServer> {
  const line = toCommandLine(command, variables)
  const open = () => processes.createSession({ sessionId: SESSION }, { signal })
  const patience = { idempotent: true, signal }
  await callPatiently({ clock }, `open a session in the sandbox ${id}`, open, patience).catch(error => {
    // A repeated call, after an answer that was lost, finds the session there.
    if (!hasTag(error, 'daytona-conflict')) throw error
  })
  // Not repeated when its answer is lost: a second server would find the port taken.
  const { cmdId } = await callDaytona(`start the environment's server in the sandbox ${id}`, () =>
    processes.sessionExecuteCommand(SESSION, { command: line, runAsync: true }, { signal }),
  )
  return watchServer(processes, cmdId, clock)
}

function watchServer(processes: ProcessApi, commandId: string, clock: Clock): StartedServer {
  let hasAnnounced = false
  let announce: (itself: boolean) => void = () => {}
  const announced = new Promise<boolean>(resolve => {
    announce = resolve
  })
  const read = (tail: string) => {
    if (hasAnnounced || !tail.includes(ANNOUNCEMENT)) return
    hasAnnounced = true
    announce(true)
  }
  const log = followLog(processes, { sessionId: SESSION, commandId }, { keepBytes: KEEP_BYTES, onText: read })
  let following = true
  log.ended.then(() => {
    following = false
    announce(false)
  })

  async function output(): Promise<string> {
    const call = processes.getSessionCommandLogs(SESSION, commandId)
    const answer = await settleWithin(clock, OUTPUT_MS, call)
    // A sandbox that is gone does not tell its output any more, but may have told it.
    return answer === undefined ? log.tail() : toTail(answer.data)
  }

  return {
    announced,
    hasAnnounced: () => hasAnnounced,
    output,
    async exited(signal) {
      if (following) await log.ended
      for (let pauseMs = FIRST_LOOK_MS; ; pauseMs = Math.min(LONGEST_LOOK_MS, pauseMs * 2)) {
        signal.throwIfAborted()
        const answer = await processes.getSessionCommand(SESSION, commandId, { signal }).catch(() => undefined) // looked at again
        const exitCode = answer?.data.exitCode
        if (typeof exitCode === 'number') return { exitCode, output: await output() }
        await sleep(clock, pauseMs, signal)
      }
    },
    close() {
      announce(false)
      log.close()
    },
  }
}

/** Older sandboxes answer with the text itself. */
function toTail(logs: unknown): string {
  const text = typeof logs === 'string' ? logs : isLogs(logs) ? join(logs) : ''
  return Buffer.from(text).subarray(-KEEP_BYTES).toString('utf8').trim()
}

function join({ stdout = '', stderr = '', output = '' }: Logs): string {
  return stdout === '' && stderr === '' ? output : [stdout, stderr].filter(text => text !== '').join('\n')
}

interface Logs {
  readonly stdout?: string
  readonly stderr?: string
  readonly output?: string
}

function isLogs(value: unknown): value is Logs {
  return typeof value === 'object' && value !== null
}
