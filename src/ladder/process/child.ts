/** Processes that are called like functions: the parent's end and the child's. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { basename } from 'node:path'
import { systemClock } from '../../clock.ts'
import { type ErrorData, fromErrorData, toErrorData } from '../../errors.ts'
import { processLost } from '../errors.ts'

/** What a child can be asked: each name with what it takes and answers. */
export type Calls<Names extends string = string> = Record<Names, (argument: never) => unknown>

export interface Child<Offered extends Calls> {
  readonly pid: number | undefined
  /** Rejects with what the child threw, when the child has ended, and when `deadlineMs` is over. */
  call<Name extends keyof Offered & string>(
    name: Name,
    argument: Parameters<Offered[Name]>[0],
    deadlineMs: number,
  ): Promise<Awaited<ReturnType<Offered[Name]>>>
  /** Lets the child end by itself; after `graceMs` it is killed. Twice is once. */
  end(graceMs: number): Promise<void>
}

interface Request {
  readonly id: number
  readonly name: string
  readonly argument: unknown
}

type Reply =
  | { readonly id: number; readonly ok: true; readonly value: unknown }
  | { readonly id: number; readonly ok: false; readonly error: ErrorData }

/** Starts `program`, with `variables` beside our own. Its errors go to our own stderr; it ignores Ctrl-C and ends when we are gone. */
export function startChild<Offered extends Calls>(
  program: string,
  argument: unknown,
  variables: Readonly<Record<string, string>> = {},
): Child<Offered> {
  const env = { ...process.env, ...variables }
  const child = fork(program, [JSON.stringify(argument)], { serialization: 'advanced', execArgv: ['--expose-gc'], env })
  const pending = new Map<number, { resolve(value: never): void; reject(error: unknown): void }>()
  const exited = once(child, 'exit')
  let nextId = 1
  let ended: Promise<void> | undefined
  const lost = (why: string) => processLost(basename(program), why)
  const failAll = (why: string) => {
    for (const { reject } of pending.values()) reject(lost(why))
    pending.clear()
  }
  child.on('message', (message: Reply) => {
    const waiting = pending.get(message.id)
    pending.delete(message.id)
    if (message.ok) waiting?.resolve(message.value as never)
    else waiting?.reject(fromErrorData(message.error))
  })
  child.on('exit', (code, signal) => failAll(`it ended (${signal ?? code})`))

  return {
    pid: child.pid,
    call(name, callArgument, deadlineMs) {
      const id = nextId++
      return new Promise((resolve, reject) => {
        if (!child.connected) return reject(lost('it has ended'))
        const cancel = systemClock.after(deadlineMs, () => {
          pending.delete(id)
          reject(lost(`no answer to ${name} within ${deadlineMs / 1_000} s`))
        })
        const settle =
          <Value>(then: (value: Value) => void) =>
          (value: Value) => {
            cancel()
            then(value)
          }
        pending.set(id, { resolve: settle(resolve), reject: settle(reject) })
        const request: Request = { id, name, argument: callArgument }
        child.send(request)
      })
    },
    end(graceMs) {
      ended ??= (async () => {
        if (child.connected) child.disconnect()
        const cancel = systemClock.after(graceMs, () => child.kill('SIGKILL'))
        if (child.exitCode === null && child.signalCode === null) await exited
        cancel()
        failAll('it was ended')
      })()
      return ended
    },
  }
}

/** The child's end: answers calls until the parent has gone, then calls `close` and exits. */
export function serveCalls<Offered extends Calls>(offered: Offered, close: () => Promise<void>): void {
  process.on('SIGINT', () => {}) // the parent is interrupted too, and ends us in order
  process.on('message', async ({ id, name, argument }: Request) => {
    let reply: Reply
    try {
      reply = { id, ok: true, value: await offered[name]?.(argument as never) }
    } catch (error) {
      reply = { id, ok: false, error: toErrorData(error) }
    }
    // The parent may be gone without our having heard of it yet: `disconnect` tells, and an error here would end us without closing.
    if (process.connected) process.send?.(reply, undefined, undefined, () => {})
  })
  process.once('disconnect', () => {
    void close().finally(() => process.exit())
  })
}
